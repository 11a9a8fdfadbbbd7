"""`run_proxy.py receipts list | find | show | verify | prove | consistency | key | export | prune`

These commands use the database in `data_dir` directly, also while a gateway writes to it; only `prune` changes it. Each
action prints and returns its exit status: 0 for success, 1 for failure, 2 for wrong usage.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import orjson
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.console import CommandLine, add_page, integer_between, print_json, report
from gateway.cli.filter_options import add_filters
from gateway.cli.progress import progress
from gateway.cli.receipt_files import print_verification, verify_file
from gateway.cli.receipt_key import show_key
from gateway.cli.receipt_lists import find_by_value, list_receipts
from gateway.cli.receipt_log import installed_signer
from gateway.cli.receipt_retention import export_by_day, past_day, prune_receipts
from gateway.cli.store_commands import finish_reader
from gateway.config.durable_files import writing
from gateway.config.settings import Settings
from gateway.errors import Unavailable
from gateway.http.strict_json import dump
from gateway.policy.inheritance import load
from gateway.policy.registry import PolicyRegistry
from gateway.receipt_log.audit import audit, find, prove, prove_extension, size_of, verify_receipt
from gateway.receipt_log.checkpoint_file import read_checkpoint
from gateway.receipt_log.export import export
from gateway.receipts.drafts import is_request_id
from gateway.receipts.records import Receipt
from gateway.receipts.verify import Check
from gateway.store import ReadOnlyStore


def add_commands(line: CommandLine) -> None:
    """Registers `receipts`."""
    actions = line.add_group("receipts", "list, show, verify and export receipts")

    listing = actions.add_parser("list", help="list the receipts of all keys, newest first")
    finding = actions.add_parser("find", help="list the receipts of a value, which is read from standard input")
    for pages, print_page in ((listing, list_receipts), (finding, find_by_value)):
        add_page(pages, 20)
        finish_reader(line, pages, print_page)

    add_filters(listing)

    show = actions.add_parser("show", help="show one receipt with its outcome")
    show.add_argument("request_id", metavar="ID")
    finish_reader(line, show, show_receipt)

    proving = actions.add_parser("prove", help="print a receipt with the proof that it is in the log, as JSON")
    proving.add_argument("request_id", metavar="ID")
    consistency = actions.add_parser("consistency", help="print the proof that the log extends what it was, as JSON")
    consistency.add_argument("old", type=integer_between(0, 2**53), metavar="N", help="its number of records then")
    for proof, action in ((proving, prove_receipt), (consistency, prove_consistency)):
        later = "number of records of the checkpoint to prove it for (default: all)"
        proof.add_argument("--size", type=integer_between(0, 2**53), metavar="N", help=later)
        finish_reader(line, proof, action, json=False)

    verify = actions.add_parser("verify", help="verify the whole log, one receipt and its chain, or a file")
    which = verify.add_mutually_exclusive_group()
    which.add_argument(
        "target", metavar="ID | FILE", nargs="?", help="a file that `export`, `prove` or `consistency` wrote"
    )
    which.add_argument("--all", action="store_true", help="verify every record and signature (the default)")
    verify.add_argument(
        "--key",
        metavar="KEY",
        action="append",
        help="a public key, or its file, to verify a file with; then nothing else is read",
    )
    finish_reader(line, verify, verify_receipts)
    on_store = verify.get_default("run")
    verify.set_defaults(run=lambda options: verify_file(options) if _concerns_file(options) else on_store(options))

    key = actions.add_parser("key", help="print the public key that receipts are verified with, in PEM")
    finish_reader(line, key, show_key)

    exporting = actions.add_parser("export", help="export the whole log as NDJSON that can be verified elsewhere")
    where = exporting.add_mutually_exclusive_group()
    where.add_argument("--output", type=Path, metavar="FILE", help="default, and `-`: standard output")
    where.add_argument("--by-day", type=Path, metavar="DIR", help="write one file for each day, each with its proof")
    exporting.add_argument("--json", action="store_true", help="print a summary as JSON (with --output or --by-day)")
    finish_reader(line, exporting, export_receipts, json=False)

    pruning = actions.add_parser("prune", help="delete the records from before a day; what is left still verifies")
    day = "YYYY-MM-DD, in UTC, or how long ago it is, such as 30d"
    pruning.add_argument("--before", type=past_day, required=True, metavar="DATE", help=day)
    line.finish(pruning, prune_receipts)


def _concerns_file(options: argparse.Namespace) -> bool:
    target: str | None = options.target
    return options.key is not None or (target is not None and not is_request_id(target))


def show_receipt(store: ReadOnlyStore, _: Settings, options: argparse.Namespace) -> int:
    """Prints every member of a receipt and of its outcome."""
    receipt = Receipt.from_stored(find(store, options.request_id)).as_dict()
    if options.json:
        print_json(receipt)
        return 0
    grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 2, 0, 0))
    for name, value in _flatten(receipt):
        grid.add_row(name, Text(value))
    Console().print(grid)
    return 0


def verify_receipts(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Verifies the log or one receipt. Returns 0 if all checks pass, 1 if any fails; they name the first bad record."""
    signer = installed_signer(store, settings)
    # Read before the log: a running gateway appends to the log first and writes its checkpoint second.
    remembered = read_checkpoint(settings.data_dir)
    with progress("Verifying", size_of(store)) as advance:
        if options.target:
            found = verify_receipt(store, signer, remembered, options.target, advance)
            policies = _policy_hashes(Receipt.from_stored(find(store, options.target)).as_dict())
        else:
            found = audit(store, signer, remembered, advance)
            policies = found.policies
    found = replace(found, checks=(*found.checks, _policies(store, settings, policies)))
    return print_verification(found, as_json=options.json)


def prove_receipt(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Prints what `verify FILE` takes for one receipt."""
    print_json(prove(store, installed_signer(store, settings), options.request_id, options.size))
    return 0


def prove_consistency(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Prints what `verify FILE` takes for two sizes of the log."""
    print_json(prove_extension(store, installed_signer(store, settings), options.old, options.size))
    return 0


def export_receipts(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Writes one JSON object per line (docs/receipt-format.md). Creates the output file only when complete."""
    file = None if options.output == Path("-") else options.output
    signer = installed_signer(store, settings)
    if options.by_day is not None:
        return export_by_day(store, signer, options)
    records = 0
    with _output(file) as output, progress("Exporting", size_of(store)) as advance:
        for line in export(store, signer, advance):
            output.write(dump(line) + b"\n")
            records += "record" in line
    if file is None:
        return 0
    done = {"file": str(file), "records": records, "key_id": signer.key_id}
    return report(options, done, f"Exported {records} records to {file}.")


@contextmanager
def _output(path: Path | None) -> Iterator[IO[bytes]]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with writing(path) as file:  # a failed export must not look like a shorter log
        yield file


def _policies(store: ReadOnlyStore, settings: Settings, hashes: Iterable[str]) -> Check:
    """Checks that the document of every policy named by a receipt is available."""
    builtin = {policy.hash for policy in PolicyRegistry(settings.policies_dir).list()}
    missing = [hash for hash in hashes if hash not in builtin and not _is_stored(store, hash)]
    detail = f"the documents of {len(missing)} policies that receipts name by their hash are missing"
    return Check("policy", detail if missing else None)


def _is_stored(store: ReadOnlyStore, hash: str) -> bool:
    """Whether the store has the document and its content matches the hash."""
    document = store.read(lambda stored: stored.policies.by_hash(hash))
    try:
        return document is not None and load(orjson.loads(document)).hash == hash
    except (Unavailable, orjson.JSONDecodeError):
        return False


def _policy_hashes(receipt: Mapping[str, Any]) -> frozenset[str]:
    policy = receipt.get("policy")
    return frozenset({str(policy.get("hash"))} if isinstance(policy, dict) else ())


def _flatten(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, member in value.items():
        if isinstance(member, dict) and member:
            yield from _flatten(member, f"{above}{name}.")
        else:
            yield f"{above}{name}", "-" if member is None or member == {} else str(member)
