"""Tells the days on which records were made, even if the clock was wrong for some of them.

Records are in the order in which they were made, whatever their times say. So the days that do not go backwards are
taken as right, for as many records as possible. The others were made while the clock was wrong, and so was each that is
dated later than today.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple

from gateway.receipts.verify import parse
from gateway.store.rows import StoredRecord


class Run(NamedTuple):
    """Records next to each other that state the same day (`YYYY-MM-DD`)."""

    day: str
    size: int


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def stated_day(row: StoredRecord) -> str:
    """Returns the day that a record states; empty if it states none, because it was changed."""
    made = (parse(row.body) or {}).get("created_at")
    return made[:10] if isinstance(made, str) else ""


def runs_of(days: Iterable[str]) -> list[Run]:
    return [Run(day, sum(1 for _ in same)) for day, same in groupby(days)]


def in_order(runs: Sequence[Run], latest: str) -> list[int]:
    """Returns the places of the runs whose days, none of them after `latest`, do not go backwards.

    They have as many records as possible. Of several such choices, it is the one with the latest days.
    """
    heaviest: list[int] = []
    previous: list[int | None] = []
    # The place of the run of each day at which most records are in order.
    ends: dict[str, int] = {}

    def order(place: int) -> tuple[int, str]:
        return heaviest[place], runs[place].day

    for place, (day, size) in enumerate(runs):
        before = max((ends[each] for each in ends if each <= day), key=order, default=None)
        heaviest.append(size + (heaviest[before] if before is not None else 0))
        previous.append(before)
        if day and day <= latest:
            ends[day] = place
    chain: list[int] = []
    end = max(ends.values(), key=order, default=None)
    while end is not None:
        chain.append(end)
        end = previous[end]
    return chain[::-1]


def true_days(runs: Sequence[Run]) -> list[Run]:
    """Returns the runs with the days to file them under, in ascending order.

    A run with a wrong day has that of the run before it, or after it at the beginning of a log.
    """
    right = in_order(runs, today()) or in_order(runs, max((run.day for run in runs), default=""))
    chosen = set(right)
    day, days = runs[right[0]].day if right else "", list[Run]()
    for place, run in enumerate(runs):
        day = run.day if place in chosen else day
        days.append(Run(day, run.size))
    return days
