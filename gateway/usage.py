"""Counts how much the gateway is used. The meters hold numbers only.

They change in the same transaction as the receipts that they count, so they always match. Calls without a receipt are
counted on their own.
"""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from gateway.errors import Unavailable
from gateway.store import Repositories, Store, Usage
from gateway.store.rows import ALL_RECEIPTS, MeterRow, ReceiptFilter

# The meters that hold one number for each name.
_GROUPS = ("operations", "routes", "risk_levels", "entities", "transformations", "outcomes", "refusals", "other_calls")

_TOKENS = ("input", "external", "reported_input", "reported_output")
# How many days the answer lists one by one; the totals cover everything.
_DAYS = 31

type Reading = tuple[str, str, int]
type Meters = dict[str, dict[str, int]]


class Counter:
    """Collects readings during a transaction, and adds them to the meters at its end."""

    def __init__(self) -> None:
        self._collected: defaultdict[tuple[str, str, str], int] = defaultdict(int)

    def add(self, day: str, readings: Iterable[Reading]) -> None:
        """Adds readings `(meter, name, amount)` of a day (`YYYY-MM-DD`)."""
        for meter, name, amount in readings:
            if amount:
                self._collected[day, meter, name] += amount

    def write(self, repositories: Repositories) -> None:
        """Adds the collected readings to the meters, in the transaction that they belong to."""
        if self._collected:
            repositories.usage.add(
                [MeterRow(day, meter, str(name), amount) for (day, meter, name), amount in self._collected.items()]
            )

    def forget(self) -> None:
        """Discards the collected readings after the transaction, committed or not."""
        self._collected.clear()


def count_other_call(store: Store, decision: str) -> None:
    """Counts what became of a call that no wire knows, in the background, and not while the store is down."""
    row = MeterRow(datetime.now(UTC).date().isoformat(), "other_calls", decision, 1)
    with suppress(Unavailable):
        store.submit(lambda stored: stored.usage.add([row]))


def counted_records(meters: Usage) -> int:
    """Counts the records in the meters, of requests and of the log itself. The receipt log has as many, or more."""
    return sum(amount for meter, _, amount in meters.totals() if meter in ("operations", "outcomes", "log_records"))


async def usage(store: Store, sought: ReceiptFilter = ALL_RECEIPTS) -> dict[str, Any]:
    """Returns the body of `GET /v1/usage`. Raises Unavailable."""
    return await store.read(lambda stored: read_usage(stored, sought))


def read_usage(repositories: Repositories, sought: ReceiptFilter = ALL_RECEIPTS) -> dict[str, Any]:
    """Returns the totals since the database was created, and the last 31 days with any activity.

    If some receipts are sought, returns those of the ones that are in the log, and counts an outcome by the day of its
    receipt.

    `tokens.input` and `tokens.external` are the gateway's own estimates of the text that came in and of the protected
    text that was sent to upstreams, by the outcomes of the requests; `tokens.reported_input` and
    `tokens.reported_output` are what upstreams reported.
    """
    meters = repositories.usage
    if sought == ALL_RECEIPTS:
        totals, newest = meters.totals(), meters.days(_DAYS)
    else:
        totals, newest = meters.totals_of(sought), meters.days_of(sought, _DAYS)
    total = _grouped(totals)
    days = {
        day: _grouped((row.meter, row.name, row.amount) for row in of_day)
        for day, of_day in groupby(newest, key=attrgetter("day"))
    }
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
