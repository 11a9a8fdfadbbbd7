"""Meters: how much the gateway was used, in numbers only.

They are moved in the same transaction as the receipts they count, so that they are always the sums of these.
"""

from collections.abc import Iterable
from typing import Any

import sqlite_utils

from gateway.store import Store

# The meters that hold one number for each name.
_GROUPS = ("operations", "routes", "risk_levels", "entities", "transformations", "outcomes")

type Reading = tuple[str, str, int]


def count(db: sqlite_utils.Database, readings: Iterable[Reading]) -> None:
    """Adds `(meter, name, amount)` each. To be called inside the transaction of what is counted.

    A meter stops at 2^53 - 1, above which JSON's readers lose count.
    """
    db.conn.executemany(
        "INSERT INTO usage (meter, name, count) VALUES (?, ?, ?) "
        "ON CONFLICT (meter, name) DO UPDATE SET count = min(count + excluded.count, 9007199254740991)",
        [reading for reading in readings if reading[2]],
    )


async def usage(store: Store) -> dict[str, Any]:
    """The body of `GET /v1/usage`: everything counted since the database was made. Raises Unavailable.

    `tokens.input` and `tokens.external` are the gateway's own estimates of what came in and what crossed;
    `tokens.reported_input` and `tokens.reported_output` are what upstreams said they used.
    """
    rows = await store.read(lambda db: db.conn.execute("SELECT meter, name, count FROM usage").fetchall())
    meters: dict[str, dict[str, int]] = {}
    for meter, name, amount in sorted(rows):
        meters.setdefault(meter, {})[name] = amount
    tokens = meters.get("tokens", {})
    return {
        "total_operations": sum(meters.get("operations", {}).values()),
        **{group: meters.get(group, {}) for group in _GROUPS},
        "tokens": {name: tokens.get(name, 0) for name in ("input", "external", "reported_input", "reported_output")},
    }
