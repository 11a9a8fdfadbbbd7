"""`run_proxy.py receipts list | show ID | verify [ID | --all] | export [--output FILE]`

They read the database in `data_dir` themselves, also while a gateway writes to it, and change nothing. Each action
prints and returns the exit status: 0 good, 1 not, 2 misused.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from errno import ENOENT
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import orjson
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.console import AddFolders, Loader, Subparsers, add_look, print_json, progress
from gateway.config.settings import Settings, SettingsError
from gateway.errors import Unavailable
from gateway.http.strict_json import dump
from gateway.policy import PolicyRegistry
from gateway.policy.resolve import load
from gateway.receipts import Check, Signer
from gateway.receipts.audit import audit, export, find, size_of, verify_receipt
from gateway.receipts.checkpoint_file import read_checkpoint
from gateway.receipts.records import Receipt
from gateway.receipts.signing import FILE
from gateway.store import ReadOnlyStore

_LARGEST_PAGE = 500


def add_commands(commands: Subparsers, add_folders: AddFolders, settings: Loader) -> None:
    """Registers `receipts`. `add_folders` adds the options that `settings` reads them from."""
    receipts = commands.add_parser("receipts", help="list, show, verify and export receipts")
    actions = receipts.add_subparsers(title="actions", required=True, metavar="ACTION")

    listing = actions.add_parser("list", help="receipts of all keys, newest first")
    listing.add_argument("--limit", type=_between(1, _LARGEST_PAGE), default=20, metavar="N", help="default: 20")
    listing.add_argument("--offset", type=_between(0, 2**53), default=0, metavar="N", help="leave out the newest N")
    add_look(listing, add_folders, settings, list_receipts)

    show = actions.add_parser("show", help="one receipt with its outcome")
    show.add_argument("request_id", metavar="ID")
    add_look(show, add_folders, settings, show_receipt)

    verify = actions.add_parser("verify", help="recompute the whole log, or one receipt and the chain it stands in")
    which = verify.add_mutually_exclusive_group()
    which.add_argument("request_id", metavar="ID", nargs="?")
    which.add_argument("--all", action="store_true", help="every record with its signature (the default)")
    add_look(verify, add_folders, settings, verify_receipts)

    exporting = actions.add_parser("export", help="the whole log as NDJSON, with what it takes to verify it elsewhere")
    exporting.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    exporting.add_argument("--json", action="store_true", help="say what was written as JSON (with --output)")
    add_look(exporting, add_folders, settings, export_receipts, json=False)


def list_receipts(look: ReadOnlyStore, _: Settings, options: argparse.Namespace) -> int:
    """A page, as `GET /v1/receipts` answers it."""
    limit, offset = options.limit, options.offset
    filed, total = look.read(lambda stored: stored.receipts.page(None, limit, offset))
    rows = [Receipt.from_stored(one).as_dict() for one in filed]
    if options.json:
        print_json({"object": "list", "data": rows, "total": total, "limit": limit, "offset": offset})
        return 0
    longest = max((len(row["request_id"]) for row in rows), default=0)
    table = Table(
        Column("Receipt", min_width=longest, no_wrap=True),
        *(Column(name, overflow="fold") for name in ("Made (UTC)", "What came", "Route", "Risk")),
        box=None,
        padding=(0, 1, 0, 0),
    )
    for row in rows:
        table.add_row(*map(Text, _cells(row)))
    console = Console()
    console.print(table)
    first = offset + 1 if rows else 0
    console.print(f"{first}-{offset + len(rows)} of {total}, newest first", highlight=False)
    return 0


def show_receipt(look: ReadOnlyStore, _: Settings, options: argparse.Namespace) -> int:
    """Every member of the receipt and of its outcome."""
    receipt = Receipt.from_stored(find(look, options.request_id)).as_dict()
    if options.json:
        print_json(receipt)
        return 0
    grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 2, 0, 0))
    for name, value in _flat(receipt):
        grid.add_row(name, Text(value))
    Console().print(grid)
    return 0


def verify_receipts(look: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """0 when all is as it was written, 1 when not; the checks say where it first breaks."""
    signer = _signer(settings)
    # Before the log is: a gateway that runs meanwhile lets the log grow first.
    remembered = read_checkpoint(settings.data_dir)
    if options.request_id:
        receipt = Receipt.from_stored(find(look, options.request_id)).as_dict()
        with progress("Verifying", size_of(look)) as advance:
            one = verify_receipt(look, signer, remembered, options.request_id, advance)
        one = replace(one, checks=(*one.checks, _policies(look, settings, _policy_hashes(receipt))))
        done, valid, checks, size = one.as_dict(), one.valid, one.checks, one.size
    else:
        with progress("Verifying", size_of(look)) as advance:
            every = audit(look, signer, remembered, advance)
        every = replace(every, checks=(*every.checks, _policies(look, settings, every.policies)))
        done, valid, checks, size = every.as_dict(), every.valid, every.checks, every.size
    if options.json:
        print_json(done)
        return 0 if valid else 1
    table = Table(Column("Check", no_wrap=True), "Result", Column("What is wrong", overflow="fold"))
    for check in checks:
        table.add_row(check.name, "ok" if check.ok else "FAILED", check.detail or "")
    console = Console()
    console.print(table)
    if valid:
        console.print(f"Valid: {size} records, each as it was written.", highlight=False)
    else:
        first = done.get("broken_at")
        console.print(f"NOT VALID{f': breaks at sequence {first}' if first else ''}.", highlight=False)
    return 0 if valid else 1


def export_receipts(look: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """One JSON object a line; see docs/receipts.md. A file is complete or not there at all."""
    signer = _signer(settings)
    records = 0
    with _output(options.output) as output, progress("Exporting", size_of(look)) as advance:
        for line in export(look, signer, advance):
            output.write(dump(line) + b"\n")
            records += line["type"] in {"receipt", "outcome"}
    if options.output is not None:
        if options.json:
            print_json({"file": str(options.output), "records": records, "key_id": signer.key_id})
        else:
            print(f"{records} records are in {options.output}.")
    return 0


@contextmanager
def _output(path: Path | None) -> Iterator[IO[bytes]]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # Written aside, so that an export that breaks off does not look like a shorter log. Readable by its owner only.
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(path))
    with NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as draft:
        try:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
            Path(draft.name).replace(path)
        except BaseException:
            Path(draft.name).unlink(missing_ok=True)
            raise


def _signer(settings: Settings) -> Signer:
    """The installation's key. None is made here: receipts of another one could not be verified with it."""
    if not (settings.data_dir / FILE).is_file():
        raise SettingsError(f"there is no {FILE} in data_dir, without which receipts cannot be verified")
    return Signer.load(settings.data_dir)


def _policies(look: ReadOnlyStore, settings: Settings, hashes: Iterable[str]) -> Check:
    """Whether every policy that was named can still be shown."""
    builtin = {policy.hash for policy in PolicyRegistry(settings.policies_dir).list()}
    missing = [hash for hash in hashes if hash not in builtin and not _is_kept(look, hash)]
    detail = f"receipts name {len(missing)} policies by a hash that no document has"
    return Check("policy", not missing, detail if missing else None)


def _is_kept(look: ReadOnlyStore, hash: str) -> bool:
    """Whether the store has the document, and it is what its hash says."""
    document = look.read(lambda stored: stored.policies.by_hash(hash))
    try:
        return document is not None and load(orjson.loads(document)).hash == hash
    except (Unavailable, orjson.JSONDecodeError):
        return False


def _policy_hashes(receipt: Mapping[str, Any]) -> tuple[str, ...]:
    policy = receipt.get("policy")
    return (str(policy.get("hash")),) if isinstance(policy, dict) else ()


def _cells(row: Mapping[str, Any]) -> Iterator[str]:
    """Two lines a row, so that it fits into 80 columns with its id whole."""
    made = str(row.get("created_at", ""))
    outcome = row.get("outcome")
    came = outcome.get("outcome", "") if isinstance(outcome, dict) else ""
    yield f"{row['request_id']}\nno. {row.get('sequence', '?')}"
    yield f"{made[:10]}\n{made[11:19]}"
    if row.get("damaged"):
        yield "DAMAGED"
        return
    yield f"{row.get('operation', '')}\n{came}"
    yield str(row.get("route", ""))
    yield str(row.get("risk_level", ""))


def _flat(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, member in value.items():
        if isinstance(member, dict) and member:
            yield from _flat(member, f"{above}{name}.")
        else:
            yield f"{above}{name}", "-" if member is None or member == {} else str(member)


def _between(least: int, most: int) -> Any:
    def number(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be from {least} to {most}")
        return value

    return number
