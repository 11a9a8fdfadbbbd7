"""`run_proxy.py receipts list` and `receipts find`: pages of receipts, as JSON or as a table."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.cli.console import argument, print_json, read_hidden
from gateway.cli.filter_options import described, read_filter, shorten
from gateway.config.installation_key import installation_key
from gateway.config.settings import Settings
from gateway.protection.value_digests import LONGEST_VALUE, MOST_VALUES, ValueDigests
from gateway.receipt_log.value_search import find_receipts
from gateway.receipts.records import Receipt
from gateway.store import ReadOnlyStore, Repositories

_INCOMPLETE = (
    f"Receipts may be missing: some have more than {MOST_VALUES} values, or were made with another installation key."
)


def list_receipts(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Prints a page of receipts, as `GET /v1/receipts` returns it."""
    limit, offset, sought = options.limit, options.offset, read_filter(store, settings, options)
    filed, total = store.read(lambda stored: stored.receipts.page(limit, offset, sought.sought()))
    if total or options.json:
        _print_page(store, [Receipt.from_stored(one).as_dict() for one in filed], total, options)
    else:
        Console().print(f"No receipts{described(sought)}.", highlight=False, markup=False)
    return 0


def find_by_value(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Prints a page of the receipts of a value, as `POST /v1/receipt-search` returns it."""
    with argument():
        value = read_hidden("value", LONGEST_VALUE)
    sought = ValueDigests(installation_key(settings, used=True)).sought(value)
    limit, offset = options.limit, options.offset
    found = store.read(lambda stored: find_receipts(stored.receipts, sought, limit, offset))
    _print_page(store, [one.as_dict() for one in found.receipts], found.total, options, complete=found.complete)
    if not (found.complete or options.json):
        print(_INCOMPLETE)
    return 0


def _print_page(
    store: ReadOnlyStore, rows: Sequence[Mapping[str, Any]], total: int, options: argparse.Namespace, **more: bool
) -> None:
    limit, offset = options.limit, options.offset
    if options.json:
        print_json({"object": "list", "data": rows, "total": total, "limit": limit, "offset": offset, **more})
        return
    longest = max((len(row["request_id"]) for row in rows), default=0)
    table = Table(
        Column("Receipt", min_width=longest, no_wrap=True),
        Column("Time (UTC)", no_wrap=True),
        Column("Operation", overflow="fold", max_width=11),
        Column("Outcome", overflow="fold"),
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    labels = store.read(key_labels)
    for row in rows:
        table.add_row(*map(Text, _cells(row, labels)))
    console = Console()
    console.print(table)
    first = offset + 1 if rows else 0
    shown = f"{first}-{offset + len(rows)} of {total}, newest first"
    console.print(f"none beyond the {total} that there are" if offset and not rows else shown, highlight=False)


def key_labels(stored: Repositories) -> dict[str, str]:
    """Returns the label of each key by its id."""
    return {key.key_id: key.label for key in stored.keys.all()}


def _cells(row: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[str]:
    """Yields the cells of a row, of several lines each, so that the table fits 80 columns without folding the id."""
    made, number = str(row.get("created_at", "")), f"no. {row.get('sequence', '?')}"
    if row.get("damaged"):
        yield from (f"{row['request_id']}\n{number}", "", "DAMAGED")
        return
    outcome = row.get("outcome")
    outcome = outcome if isinstance(outcome, dict) else {}
    key, model = str(row.get("api_key_id", "")), str(row.get("model", ""))
    width = len(row["request_id"])
    who = shorten(labels.get(key) or key, width // 2 - 1 if model else width)
    who += f", {shorten(model, width - 2 - len(who))}" if model else ""
    yield "\n".join(filter(None, (row["request_id"], who, number)))
    yield f"{made[:10]}\n{made[11:19]}\n{row.get('risk_level', '')}"
    yield f"{row.get('operation', '')}\n{_policy(row)}"
    yield "\n".join(filter(None, map(str, (outcome.get("outcome", ""), outcome.get("code", ""), row.get("route", "")))))


def _policy(row: Mapping[str, Any]) -> str:
    policy = row.get("policy")
    return f"{policy.get('id')}@{policy.get('version')}" if isinstance(policy, dict) else ""
