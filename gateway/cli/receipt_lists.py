"""`run_proxy.py receipts list` and `receipts find`: pages of receipts, as JSON or as a table."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.console import argument, print_json, read_hidden
from gateway.config.installation_key import installation_key
from gateway.config.settings import Settings
from gateway.protection.value_digests import LONGEST_VALUE, MOST_VALUES, ValueDigests
from gateway.receipt_log.value_search import find_receipts
from gateway.receipts.records import Receipt
from gateway.store import ReadOnlyStore

_INCOMPLETE = (
    f"Receipts may be missing: some have more than {MOST_VALUES} values, or were made with another installation key."
)


def list_receipts(store: ReadOnlyStore, _: Settings, options: argparse.Namespace) -> int:
    """Prints a page of receipts, as `GET /v1/receipts` returns it."""
    limit, offset = options.limit, options.offset
    filed, total = store.read(lambda stored: stored.receipts.page(None, limit, offset))
    _print_page([Receipt.from_stored(one).as_dict() for one in filed], total, options)
    return 0


def find_by_value(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Prints a page of the receipts of a value, as `POST /v1/receipt-search` returns it."""
    with argument():
        value = read_hidden("value", LONGEST_VALUE)
    sought = ValueDigests(installation_key(settings, used=True)).sought(value)
    limit, offset = options.limit, options.offset
    found = store.read(lambda stored: find_receipts(stored.receipts, sought, limit, offset))
    _print_page([one.as_dict() for one in found.receipts], found.total, options, complete=found.complete)
    if not (found.complete or options.json):
        print(_INCOMPLETE)
    return 0


def _print_page(rows: Sequence[Mapping[str, Any]], total: int, options: argparse.Namespace, **more: bool) -> None:
    limit, offset = options.limit, options.offset
    if options.json:
        print_json({"object": "list", "data": rows, "total": total, "limit": limit, "offset": offset, **more})
        return
    longest = max((len(row["request_id"]) for row in rows), default=0)
    table = Table(
        Column("Receipt", min_width=longest, no_wrap=True),
        *(Column(name, overflow="fold") for name in ("Time (UTC)", "Operation", "Route", "Risk")),
        box=None,
        padding=(0, 1, 0, 0),
    )
    for row in rows:
        table.add_row(*map(Text, _cells(row)))
    console = Console()
    console.print(table)
    first = offset + 1 if rows else 0
    shown = f"{first}-{offset + len(rows)} of {total}, newest first"
    console.print(f"none beyond the {total} that there are" if offset and not rows else shown, highlight=False)


def _cells(row: Mapping[str, Any]) -> Iterator[str]:
    """Yields the cells of a row, two lines each, so that the table fits 80 columns without folding the id."""
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
