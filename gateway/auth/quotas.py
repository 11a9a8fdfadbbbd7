"""Counts what keys with quotas ask for in a day or month, and refuses more. The counts outlive a restart.

They are kept in memory and written in groups, off the path of requests. Processes that share a database learn of each
other's counts whenever they write their own.
"""

import math
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from gateway.errors import TooManyRequests, Unprocessable
from gateway.models import Caller, Quota
from gateway.store import Repositories, Store
from gateway.store.rows import KeyUseRow

_QUOTA = re.compile(r"(requests|characters)=([1-9][0-9]{0,14})/(day|month)")

type Used = tuple[int, int]
"""Requests and characters."""


def read_quota(text: str) -> Quota:
    """Reads a quota as commands take it: `requests=1000/day`. Raises Unprocessable."""
    match = _QUOTA.fullmatch(text)
    if match is None:
        message = "Write a quota as `requests=1000/day` or `characters=2000000/month`."
        raise Unprocessable(message, param="quota")
    return Quota(cast(Any, match[1]), int(match[2]), cast(Any, match[3]))


def quota_words(quota: Quota) -> str:
    """Returns a quota as commands take it."""
    return f"{quota.unit}={quota.amount}/{quota.period}"


class Quotas:
    """The counts of every key that has quotas, by key and period (`2026-01-02` or `2026-01`)."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store = store
        self._clock = clock
        self._used: dict[tuple[str, str], Used] = {}
        self._unwritten: dict[tuple[str, str], Used] = {}
        self._lock = threading.Lock()

    def charge(self, caller: Caller, *, requests: int = 0, characters: int = 0) -> None:
        """Counts what a call asks for.

        Raises TooManyRequests, without counting, if that is more than a quota of the key leaves; Unavailable.
        """
        quotas = caller.grant.quotas
        if not quotas:
            return
        now = self._clock()
        with self._lock:
            keys = {quota.period: (caller.key_id, _name(quota, now)) for quota in quotas}
            for quota in quotas:
                asked = requests if quota.unit == "requests" else characters
                used = self._total(keys[quota.period])[0 if quota.unit == "requests" else 1]
                if asked and used + asked > quota.amount:
                    message = f"This key has used up its quota of {quota.unit} for the {quota.period}."
                    seconds = max(1, math.ceil((_end(quota, now) - now).total_seconds()))
                    raise TooManyRequests(
                        f"{message} Ask the operator for a larger one, or wait.",
                        code="quota_exceeded",
                        retry_after=seconds,
                    )
            for key in keys.values():
                self._used[key] = _sum(self._used[key], (requests, characters))
                self._unwritten[key] = _sum(self._unwritten.get(key, (0, 0)), (requests, characters))

    def _total(self, key: tuple[str, str]) -> Used:
        if key not in self._used:
            self._used[key] = self._store.read_now(lambda stored: stored.keys.used(*key))
        return self._used[key]

    async def write(self) -> None:
        """Writes what was counted since the last time, and learns what other processes counted. Raises Unavailable."""
        with self._lock:
            rows = [KeyUseRow(*key, *used) for key, used in self._unwritten.items()]
            self._unwritten = {}
        if not rows:
            return
        month = f"{self._clock():%Y-%m}"

        def work(stored: Repositories) -> dict[tuple[str, str], Used]:
            stored.keys.count_use(rows, forget_before=month)
            return {row[:2]: stored.keys.used(*row[:2]) for row in rows}

        try:
            totals = await self._store.write(work)
        except Exception:  # Cancelled writes are made all the same.
            with self._lock:
                for row in rows:
                    self._unwritten[row[:2]] = _sum(self._unwritten.get(row[:2], (0, 0)), row[2:])
            raise
        with self._lock:
            current = {key: used for key, used in self._used.items() if key[1] >= month}
            self._used = current | {key: _sum(used, self._unwritten.get(key, (0, 0))) for key, used in totals.items()}


def _name(quota: Quota, now: datetime) -> str:
    # Formatting would take ten times as long, for every request.
    return now.isoformat()[:10] if quota.period == "day" else now.isoformat()[:7]


def _end(quota: Quota, now: datetime) -> datetime:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if quota.period == "day":
        return midnight + timedelta(days=1)
    return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)


def _sum(one: Used, other: Used) -> Used:
    return one[0] + other[0], one[1] + other[1]
