"""Meters."""

from collections.abc import Sequence

from gateway.store.postgres.selection import select
from gateway.store.postgres.statements import Statements, arrays, columns
from gateway.store.rows import LARGEST_NUMBER, MeterRow, ReceiptFilter

_TYPES = arrays(["text", "text", "text", "bigint"])
# A sum of numbers is a `numeric`, which does not overflow.
_SUMS = {
    "input": "coalesce(sum(tokens_input), 0)",
    "external": "coalesce(sum(tokens_sent), 0)",
    "reported_input": "coalesce(sum(reported_input), 0)",
    "reported_output": "coalesce(sum(reported_output), 0)",
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

    def __init__(self, statements: Statements) -> None:
        self._db = statements

    def add(self, meters: Sequence[MeterRow]) -> None:
        if not meters:
            return
        self._db.run(
            f"INSERT INTO usage (day, meter, name, count) SELECT * FROM unnest({_TYPES}) "
            "ON CONFLICT (day, meter, name) DO UPDATE "
            f"SET count = least(usage.count + excluded.count, {LARGEST_NUMBER})",
            columns((*key, min(amount, LARGEST_NUMBER)) for *key, amount in meters),
        )

    def totals(self) -> list[tuple[str, str, int]]:
        rows = self._db.run("SELECT meter, name, sum(count) FROM usage GROUP BY meter, name")
        return [(meter, name, _bounded(amount)) for meter, name, amount in rows]

    def days(self, limit: int) -> list[MeterRow]:
        newest = "SELECT DISTINCT day FROM usage ORDER BY day DESC LIMIT %s"
        query = f"SELECT day, meter, name, count FROM usage WHERE day IN ({newest}) ORDER BY day, meter, name"
        return [MeterRow(*row) for row in self._db.run(query, [limit])]

    def names(self, meter: str) -> set[str]:
        return {name for (name,) in self._db.run("SELECT DISTINCT name FROM usage WHERE meter = %s", [meter])}

    def totals_of(self, sought: ReceiptFilter) -> list[tuple[str, str, int]]:
        where, parameters = select(sought)
        rows = f"FROM receipts_facts WHERE {where}"
        parts = [f"SELECT '{meter}', {name}, count(*) {rows} GROUP BY {name}" for meter, name in _NAMES.items()]
        parts += [f"SELECT 'tokens', '{name}', {amount} {rows}" for name, amount in _SUMS.items()]
        parts += [
            f"SELECT '{meter}', key, sum(value::numeric * times) FROM (SELECT {counts}, count(*) AS times {rows} "
            f"GROUP BY {counts}) AS counted, jsonb_each_text({counts}::jsonb) GROUP BY key"
            for meter, counts in _COUNTS.items()
        ]
        found = (row for part in parts for row in self._db.run(part, parameters).fetchall())
        return [(meter, name, _bounded(amount)) for meter, name, amount in found if name is not None and amount]

    def days_of(self, sought: ReceiptFilter, limit: int) -> list[MeterRow]:
        where, parameters = select(sought)
        rows = self._db.run(
            f"SELECT substr(created_at, 1, 10) AS day, count(*), {', '.join(_SUMS.values())} FROM receipts_facts "
            f"WHERE {where} AND created_at IS NOT NULL GROUP BY day ORDER BY day DESC LIMIT %s",
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
