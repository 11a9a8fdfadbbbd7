"""Meters: how much the gateway was used, in numbers only.

They are moved in the same transaction as the receipts they count, so that they are always the sums of these.
"""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlite_utils

from gateway.store import Store

# The meters that hold one number for each name.
_GROUPS = ("operations", "routes", "risk_levels", "entities", "transformations", "outcomes")

_TOKENS = ("input", "external", "reported_input", "reported_output")
# Days in the answer; the totals go back to the beginning.
_DAYS = 31
# Above 2^53 - 1 JSON's readers lose count; there a meter stops.
_LARGEST = 2**53 - 1

type Reading = tuple[str, str, int]
type Meters = dict[str, dict[str, int]]


class Counter:
    """Collects readings while a transaction is under way, and adds them to the meters at its end."""

    def __init__(self) -> None:
        self._collected: dict[tuple[str, str, str], int] = {}

    def add(self, day: str, readings: Iterable[Reading]) -> None:
        """Adds `(meter, name, amount)` each, for a day (`YYYY-MM-DD`)."""
        for meter, name, amount in readings:
            if amount:
                key = (day, meter, str(name))
                self._collected[key] = self._collected.get(key, 0) + amount

    def write(self, db: sqlite_utils.Database) -> None:
        """Moves the meters by what was collected; inside the transaction of what is counted."""
        if not self._collected:
            return
        values = ", ".join(["(?, ?, ?, ?)"] * len(self._collected))
        db.conn.execute(
            f"INSERT INTO usage (day, meter, name, count) VALUES {values} "  # noqa: S608
            f"ON CONFLICT (day, meter, name) DO UPDATE SET count = min(count + excluded.count, {_LARGEST})",
            [column for key, amount in self._collected.items() for column in (*key, min(amount, _LARGEST))],
        )

    def forget(self) -> None:
        """The transaction ended, one way or the other."""
        self._collected.clear()


async def usage(store: Store) -> dict[str, Any]:
    """The body of `GET /v1/usage`. Raises Unavailable."""
    return await store.read(read_usage)


def read_usage(db: sqlite_utils.Database) -> dict[str, Any]:
    """Everything counted since the database was made, and the last 31 days with any.

    `tokens.input` and `tokens.external` are the gateway's own estimates of what came in and what crossed;
    `tokens.reported_input` and `tokens.reported_output` are what upstreams said they used.
    """
    # total() adds floating-point numbers, which do not overflow as sum() does.
    sums = f"SELECT meter, name, min(cast(total(count) AS INTEGER), {_LARGEST}) FROM usage GROUP BY meter, name"  # noqa: S608
    newest = "SELECT DISTINCT day FROM usage WHERE day <> '' ORDER BY day DESC LIMIT ?"
    of_days = f"SELECT day, meter, name, count FROM usage WHERE day IN ({newest}) ORDER BY day, meter, name"  # noqa: S608
    totals, rows = db.conn.execute(sums).fetchall(), db.conn.execute(of_days, [_DAYS]).fetchall()
    days = {
        day: _grouped([(meter, name, amount) for _, meter, name, amount in of_day])
        for day, of_day in groupby(rows, key=itemgetter(0))
    }
    total = _grouped(totals)
    return {
        **_summary(total),
        **{group: total.get(group, {}) for group in _GROUPS},
        "days": [{"day": day, **_summary(meters)} for day, meters in days.items()],
    }


def _grouped(readings: Iterable[Reading]) -> Meters:
    meters: Meters = {}
    for meter, name, amount in sorted(readings):
        meters.setdefault(meter, {})[name] = amount
    return meters


def _summary(meters: Meters) -> dict[str, Any]:
    tokens = meters.get("tokens", {})
    return {
        "total_operations": sum(meters.get("operations", {}).values()),
        "tokens": {name: tokens.get(name, 0) for name in _TOKENS},
    }
