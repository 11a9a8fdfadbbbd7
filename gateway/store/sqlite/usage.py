"""Meters."""

import sqlite3
from collections.abc import Sequence

from gateway.store.rows import LARGEST_NUMBER, MeterRow


class Usage:
    """Meters: one amount for each day, meter and name."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def add(self, meters: Sequence[MeterRow]) -> None:
        """Adds to the amounts, in one round trip. Each stops at `LARGEST_NUMBER`.

        Each combination of day, meter and name occurs at most once in `meters`.
        """
        if not meters:
            return
        values = ", ".join(["(?, ?, ?, ?)"] * len(meters))
        self._conn.execute(
            f"INSERT INTO usage (day, meter, name, count) VALUES {values} "
            f"ON CONFLICT (day, meter, name) DO UPDATE SET count = min(count + excluded.count, {LARGEST_NUMBER})",
            [column for *key, amount in meters for column in (*key, min(amount, LARGEST_NUMBER))],
        )

    def totals(self) -> list[tuple[str, str, int]]:
        """Meter, name and the sum over all days, which stops at `LARGEST_NUMBER`."""
        # total() adds floating-point numbers, which do not overflow as sum() does.
        total = f"min(cast(total(count) AS INTEGER), {LARGEST_NUMBER})"
        return self._conn.execute(f"SELECT meter, name, {total} FROM usage GROUP BY meter, name").fetchall()

    def days(self, limit: int) -> list[MeterRow]:
        """The newest `limit` days, in ascending order of day, meter and name."""
        newest = "SELECT DISTINCT day FROM usage ORDER BY day DESC LIMIT ?"
        query = f"SELECT day, meter, name, count FROM usage WHERE day IN ({newest}) ORDER BY day, meter, name"
        return [MeterRow(*row) for row in self._conn.execute(query, [limit])]
