"""A clock that never runs backwards."""

import threading
import time
from collections.abc import Callable


class SteadyClock:
    """Tells Unix seconds that never decrease, and advance at least as fast as the monotonic clock. Thread-safe.

    The latest time before a restart is passed in as `seen`. If the system clock is behind, time continues from there.
    If it jumps ahead and back, time stays ahead.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._latest, self._tick = 0.0, monotonic()
        self._lock = threading.Lock()

    def now(self, seen: float = 0.0) -> float:
        """Returns the time, which is at least `seen`."""
        with self._lock:
            tick = self._monotonic()
            self._latest = max(self._wall(), seen, self._latest + tick - self._tick)
            self._tick = tick
            return self._latest
