"""`run_proxy.py tail`: shows requests as they happen, by the receipts and outcomes in the database of `data_dir`.

It reads the database, which a gateway may be writing to, and opens it anew for each look, so that the gateway may stop
and start meanwhile.
"""

import argparse
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.cli.console import CommandLine, flush_output, integer_between
from gateway.cli.filter_options import add_filters, read_filter, shorten
from gateway.cli.receipt_lists import key_labels
from gateway.cli.store_commands import check_not_lost
from gateway.config.settings import Settings
from gateway.errors import Unavailable
from gateway.http.strict_json import dump
from gateway.receipts.drafts import EXCHANGES
from gateway.receipts.records import Receipt, decoded
from gateway.store import Database, Repositories, StoreError, open_read_only
from gateway.store.rows import ALL_RECEIPTS, ReceiptFilter, StoredReceipt

_SECONDS = 0.5
_MOST_RECORDS = 500
_OF_REQUESTS = (b"receipt", b"outcome")
# A restart or a restored backup may take the database away for so long.
_MOST_FAILURES = 60
# The columns of a line: the least and the greatest width. What is left goes to the first of `_WIDENED` that can use it.
_COLUMNS = {
    "TIME": (8, 8),
    "REQUEST": (8, 8),
    "KEY": (7, 24),
    "CALL": (8, 18),
    "POLICY": (7, 24),
    "MODEL": (8, 32),
    "N": (3, 5),
    "MS": (6, 6),
    "OUTCOME": (17, 24),
}
_WIDENED = ("OUTCOME", "CALL", "KEY", "MODEL", "POLICY")

type Shown = dict[str, Any]
"""A receipt as `GET /v1/receipts` returns it, with the `label` of its key."""


def add_commands(line: CommandLine) -> None:
    """Registers `tail`."""
    tail = line.commands.add_parser("tail", help="show requests as they happen, by their receipts")
    number = integer_between(0, _MOST_RECORDS)
    tail.add_argument("--lines", type=number, default=10, metavar="N", help="begin with the last N (default: 10)")
    add_filters(tail)
    line.finish(tail, show_requests)


def show_requests(settings: Settings, options: argparse.Namespace) -> int:
    """Prints a line for each request that begins or ends, until it is interrupted."""
    check_not_lost(settings)
    with open_read_only(settings.data_dir, settings.postgresql) as store:
        sought = read_filter(store, settings, options).sought()
    follower, widths = (
        Follower(settings.data_dir, sought, options.lines, settings.postgresql),
        _widths(shutil.get_terminal_size((0, 0)).columns),
    )
    if not options.json:
        print(_line(dict(zip(_COLUMNS, _COLUMNS, strict=True)), widths))
    while True:
        for shown in follower.look():
            print(dump(shown).decode() if options.json else _line(_cells(shown), widths))
        flush_output()
        time.sleep(_SECONDS)


class Follower:
    """Reads which of the requests that are sought began or ended since the last look."""

    def __init__(self, folder: Path, sought: ReceiptFilter, lines: int, database: Database | None = None) -> None:
        """The first look returns the last `lines` of those that there are."""
        self._place = folder, database
        self._sought = sought
        self._lines = lines
        self._last: int | None = None
        self._failures = 0

    def look(self) -> list[Shown]:
        """Returns their receipts, in the order of the log. One that begins and ends between two looks is there once.

        Raises StoreError or Unavailable if the database could not be read for a while, or at the first look.
        """
        try:
            with open_read_only(*self._place) as store:
                found = store.read(self._read)
        except (StoreError, Unavailable):
            self._failures += 1
            if self._last is None or self._failures > _MOST_FAILURES:
                raise
            return []
        self._failures = 0
        return found

    def _read(self, stored: Repositories) -> list[Shown]:
        bounds = stored.receipts.bounds()
        newest = bounds[1] if bounds else 0
        if self._last is None:
            found = stored.receipts.page(self._lines, 0, self._sought)[0][::-1] if self._lines else []
        else:
            # A restored backup may end earlier.
            found = self._changed(stored, min(self._last, newest))
        self._last = newest
        labels = key_labels(stored) if found else {}
        return [_shown(each, labels) for each in found]

    def _changed(self, stored: Repositories, last: int) -> list[StoredReceipt]:
        """Returns the receipts that are sought and have a record after `last`."""
        ids: dict[str, None] = {}
        while records := stored.receipts.after(last, _MOST_RECORDS):
            last = records[-1].sequence
            ids |= {decoded(each.request_id): None for each in records if each.kind in _OF_REQUESTS}
        found = [receipt for id in ids if (receipt := stored.receipts.find(id, None)) is not None]
        if self._sought == ALL_RECEIPTS:
            return found
        sequences = [each.record.sequence for each in found]
        fit: set[int] = set()
        for first in range(0, len(sequences), _MOST_RECORDS):
            fit |= stored.receipts.matching(sequences[first : first + _MOST_RECORDS], self._sought)
        return [each for each in found if each.record.sequence in fit]


def _shown(receipt: StoredReceipt, labels: Mapping[str, str]) -> Shown:
    shown = Receipt.from_stored(receipt).as_dict()
    return {**shown, "label": labels.get(str(shown.get("api_key_id")))}


def _cells(shown: Shown) -> dict[str, str]:
    """Returns the words of a line. A request that has not ended has an ellipsis in place of its outcome."""
    outcome = shown.get("outcome") or {}
    if shown.get("damaged"):
        status = "DAMAGED"
    elif outcome:
        status = str(outcome.get("code") or outcome.get("outcome"))
    else:
        status = "…" if shown.get("operation") in EXCHANGES else str(shown.get("route", ""))
    policy, counts = shown.get("policy") or {}, shown.get("entity_counts") or {}
    values = {
        "TIME": str((outcome or shown).get("created_at", ""))[11:19],
        "REQUEST": shown["request_id"].removeprefix("req_"),
        "KEY": shown["label"] or shown.get("credential") or shown.get("api_key_id"),
        "CALL": shown.get("wire") or shown.get("operation"),
        "POLICY": policy.get("id"),
        "MODEL": shown.get("model"),
        "N": str(sum(counts.values())),
        "MS": str((outcome.get("milliseconds") or {}).get("total", "")),
        "OUTCOME": status,
    }
    return {name: value or "-" for name, value in values.items()}


def _line(cells: Mapping[str, str], widths: Mapping[str, int] | None) -> str:
    """Returns a line. Ids are cut, names shortened in their middle, if there are widths."""
    if widths is None:
        return " ".join(cells.values())
    cells = {**cells, "REQUEST": cells["REQUEST"][: widths["REQUEST"]]}
    return " ".join(shorten(value, widths[name]).ljust(widths[name]) for name, value in cells.items()).rstrip()


def _widths(columns: int) -> dict[str, int] | None:
    """Returns the widths that make a line fit so many columns; None for any number, where there is no terminal."""
    if not columns:
        return None
    widths = {name: least for name, (least, _) in _COLUMNS.items()}
    left = columns - sum(widths.values()) - len(widths) + 1
    for name in _WIDENED:
        more = max(0, min(left, _COLUMNS[name][1] - widths[name]))
        widths[name] += more
        left -= more
    return widths
