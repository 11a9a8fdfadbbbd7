"""Limits the requests that each key may make per minute."""

import math
import threading
import time
from collections.abc import Callable

from gateway.errors import TooManyRequests

_MOST_KEYS = 10_000


class RateLimiter:
    """The generic cell rate algorithm (ITU-T I.371), with one number per key and bursts of up to a minute's worth.

    Each process counts for itself.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.permit(per_minute)
        self._clock = clock
        # When each key would have used up what it has asked for so far, had it asked evenly.
        self._even: dict[str, float] = {}
        self._lock = threading.Lock()

    def permit(self, per_minute: int) -> None:
        """Sets the rate, 0 for none. What keys have asked for so far counts as it did."""
        if per_minute < 0:
            raise ValueError("per_minute must not be negative")
        self._interval = 60 / per_minute if per_minute else 0.0

    def check(self, key_id: str) -> None:
        """Counts a request. Raises TooManyRequests (`retry_after` in seconds) without counting it."""
        if not self._interval:
            return
        now = self._clock()
        with self._lock:
            even = max(self._even.get(key_id, now), now)
            # A millionth of a second forgives the rounding of sums of intervals.
            wait = even + self._interval - (now + 60) - 1e-6
            if wait <= 0:
                self._even[key_id] = even + self._interval
                if len(self._even) > _MOST_KEYS:
                    self._forget(now)
                return
        seconds = max(1, math.ceil(wait))
        raise TooManyRequests("Too many requests with this key. Try again later.", retry_after=seconds)

    def _forget(self, now: float) -> None:
        """Drops keys that have their full allowance again; if that is not enough, the half with the most left."""
        self._even = {key: even for key, even in self._even.items() if even > now}
        if len(self._even) > _MOST_KEYS:
            busiest = sorted(self._even, key=self._even.__getitem__)[_MOST_KEYS // 2 :]
            self._even = {key: self._even[key] for key in busiest}
