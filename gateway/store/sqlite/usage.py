"""Meters."""

import sqlite3
from collections.abc import Sequence

from gateway.store.rows import LARGEST_NUMBER, MeterRow, ReceiptFilter
from gateway.store.sqlite.selection import select

# total() adds floating-point numbers, which do not overflow as sum() does.
_SUMS = {
    "input": "total(tokens_input)",
    "external": "total(tokens_sent)",
    "reported_input": "total(reported_input)",
    "reported_output": "total(reported_output)",
}
# The meters that have one name for each receipt, and those that have counts by name; each with the column.
_NAMES = {
    "operations": "operation",
    "routes": "route",
    "risk_levels": "risk_level",
    "outcomes": "outcome",
    "refusals": "code",
}
_COUNTS = {"entities": "types", "transformations": "actions"}


class Usage:
    """See `interfaces`."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, meters: Sequence[MeterRow]) -> None:
        if not meters:
            return
        values = ", ".join(["(?, ?, ?, ?)"] * len(meters))
        self._conn.execute(
            f"INSERT INTO usage (day, meter, name, count) VALUES {values} "
            f"ON CONFLICT (day, meter, name) DO UPDATE SET count = min(count + excluded.count, {LARGEST_NUMBER})",
            [column for *key, amount in meters for column in (*key, min(amount, LARGEST_NUMBER))],
        )

    def totals(self) -> list[tuple[str, str, int]]:
        total = f"min(cast(total(count) AS INTEGER), {LARGEST_NUMBER})"
        return self._conn.execute(f"SELECT meter, name, {total} FROM usage GROUP BY meter, name").fetchall()

    def days(self, limit: int) -> list[MeterRow]:
        newest = "SELECT DISTINCT day FROM usage ORDER BY day DESC LIMIT ?"
        query = f"SELECT day, meter, name, count FROM usage WHERE day IN ({newest}) ORDER BY day, meter, name"
        return [MeterRow(*row) for row in self._conn.execute(query, [limit])]

    def names(self, meter: str) -> set[str]:
        return {name for (name,) in self._conn.execute("SELECT DISTINCT name FROM usage WHERE meter = ?", [meter])}

    def totals_of(self, sought: ReceiptFilter) -> list[tuple[str, str, int]]:
        where, parameters = select(sought)
        rows = f"FROM receipts_facts WHERE {where}"
        parts = [f"SELECT '{meter}', {name}, count(*) {rows} GROUP BY {name}" for meter, name in _NAMES.items()]
        parts += [f"SELECT 'tokens', '{name}', {amount} {rows}" for name, amount in _SUMS.items()]
        parts += [
            f"SELECT '{meter}', CAST(key AS TEXT), sum(value * times) FROM (SELECT {counts}, count(*) AS times {rows} "
            f"GROUP BY {counts}), json_each({counts}) GROUP BY key"
            for meter, counts in _COUNTS.items()
        ]
        found = (row for part in parts for row in self._conn.execute(part, parameters))
        return [(meter, name, _bounded(amount)) for meter, name, amount in found if name is not None and amount]

    def days_of(self, sought: ReceiptFilter, limit: int) -> list[MeterRow]:
        where, parameters = select(sought)
        rows = self._conn.execute(
            f"SELECT substr(created_at, 1, 10) AS day, count(*), {', '.join(_SUMS.values())} FROM receipts_facts "
            f"WHERE {where} AND created_at IS NOT NULL GROUP BY day ORDER BY day DESC LIMIT ?",
            [*parameters, limit],
        ).fetchall()
        names = [("operations", "all"), *(("tokens", name) for name in _SUMS)]
        return [
            MeterRow(day, meter, name, _bounded(amount))
            for day, *amounts in reversed(rows)
            for (meter, name), amount in zip(names, amounts, strict=True)
        ]


def _bounded(amount: float) -> int:
    return min(int(amount), LARGEST_NUMBER)
