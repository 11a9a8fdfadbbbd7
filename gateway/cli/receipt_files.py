"""`run_proxy.py receipts verify FILE --key KEY …`: verifies what `export`, `prove` or `consistency` wrote, anywhere."""

import argparse
import os
from errno import EINVAL
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from gateway.cli.console import Misused, print_error, print_json
from gateway.cli.progress import progress
from gateway.errors import BadRequest, NotFound
from gateway.http.strict_json import parse_object
from gateway.receipt_log.export_walk import ExportWalk
from gateway.receipts.offline import CONSISTENCY, PROOF, parse_key, verify_consistency, verify_proof
from gateway.receipts.signing import GivenKeys
from gateway.receipts.verify import Verification

_LONGEST_KEY = 4096
_LONGEST_PROOF = _LONGEST_LINE = 1 << 20


def verify_file(options: argparse.Namespace) -> int:
    """Verifies a file. Returns 0 if all checks pass, 1 if any fails or the file cannot be read.

    Raises Misused, and NotFound (`receipt_not_found`).
    """
    if options.key is None and not _is_there(options.target):
        message = "There is no such receipt. Nor is there a file of that name."
        raise NotFound(message, code="receipt_not_found", param="target")
    if options.key is None:
        message = "Give the public key to verify a file with, as --key KEY, from another source than the file."
        raise Misused(message, "unusable_settings", "key")
    try:
        keys = GivenKeys(parse_key(_read_key(key)) for key in options.key)
    except (ValueError, OSError):
        message = (
            "--key must be an Ed25519 public key: 64 hex digits, as verifiers of signed notes take it, or a file in PEM"
        )
        raise Misused(message, "unusable_settings", "key") from None
    if options.target is None:
        raise Misused("--key needs a FILE to verify", "unusable_settings", "target")
    try:
        found, day = _verified(Path(options.target), keys)
    except OSError as error:
        print_error(f"{options.target}: {error.strerror}", "unreadable", "target", as_json=options.json)
        return 1
    said = f"Valid: records {found.first} to {found.log.size} of the log." if day else None
    if found.request_id is not None:
        said = f"Valid: the receipt is one of the {found.log.size} records of the checkpoint."
    return print_verification(found, as_json=options.json, said=said)


def _read_key(text: str) -> str:
    """Returns the key that is given itself or as the name of a file. Raises OSError, ValueError."""
    if not _is_there(text):
        return text
    with Path(text).open("rb") as file:
        return file.read(_LONGEST_KEY).decode().strip()


def _is_there(target: str) -> bool:
    try:
        path = Path(target)
        return path.exists() and not path.is_dir()
    except OSError:
        # The name is too long for one.
        return False


def print_verification(found: Verification, *, as_json: bool, said: str | None = None) -> int:
    """Prints the checks, and what it means if all pass. Returns 0 if they do, else 1."""
    status, done = 0 if found.valid else 1, found.as_dict()
    if as_json:
        print_json(done)
        return status
    table = Table(Column("Check", no_wrap=True), "Result", Column("Problem", overflow="fold"))
    for check in found.checks:
        table.add_row(check.name, "ok" if check.ok else "FAILED", check.detail or "")
    console = Console()
    console.print(table)
    if found.valid:
        console.print(said or _valid(found), highlight=False)
    else:
        first = done.get("broken_at")
        console.print(f"NOT VALID{f': breaks at sequence {first}' if first else ''}.", highlight=False)
    return status


def _valid(found: Verification) -> str:
    pruned = f" The {found.first - 1} before were pruned." if found.first > 1 else ""
    return f"Valid: {found.log.size - found.first + 1} records, none altered or missing.{pruned}"


def _verified(path: Path, keys: GivenKeys) -> tuple[Verification, str | None]:
    # A pipe or device has no size to judge it by and may never end; opening a pipe waits for its writer.
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "not a regular file; write what it holds to one")
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size <= _LONGEST_PROOF:
            try:
                value = parse_object(file.read(_LONGEST_PROOF))
            except BadRequest:
                value = {}
            kind = {name: value.get(name) for name in PROOF}
            if kind == PROOF:
                return verify_proof(value, keys), None
            if kind == CONSISTENCY:
                return verify_consistency(value, keys), None
            file.seek(0)
        walk = ExportWalk(keys)
        with progress("Verifying", os.fstat(file.fileno()).st_size) as advance:
            # No line of an export is as long, and one that is must not fill the memory.
            while line := file.readline(_LONGEST_LINE):
                walk.feed(line)
                advance(len(line))
    return walk.result(), walk.day
