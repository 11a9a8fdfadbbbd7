"""Decides which of the waiting jobs is next: one of the key that has been given least of late.

Start-time fair queueing (Goyal, Vin and Cheng, IEEE/ACM Transactions on Networking, 1997): a job may start, in virtual
time, once those of its key before it would have ended; the virtual time is that of the job started last.
"""

import threading
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field

from gateway.workers.memory import LARGE

_LEAST = 1024
"""Characters that any job counts as, since short ones cost time, too."""
_MOST_KEYS = 4096


@dataclass(slots=True)
class _Flow[T]:
    """The waiting jobs of a key, large or small: each with its virtual start and its cost, first come first served."""

    is_large: bool
    jobs: deque[tuple[float, T]] = field(default_factory=deque)


class FairQueue[K: Hashable, T]:
    """Waiting jobs by key. At most `large` large ones are taken at a time, so that small ones find a free thread.

    A key's large and small jobs are queued apart. Thread-safe.
    """

    def __init__(self, large: int) -> None:
        self._large = large
        self._large_under_way = 0
        self._flows: dict[tuple[K, bool], _Flow[T]] = {}
        # When the jobs of a key that were queued so far would have ended, in virtual time.
        self._ends: dict[tuple[K, bool], float] = {}
        self._now = 0.0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, job: T, key: K, cost: int) -> None:
        """Adds a job. `cost` is the length of its texts in characters."""
        name = key, cost >= LARGE
        with self._changed:
            start = max(self._now, self._ends.get(name, 0.0))
            self._ends[name] = start + max(cost, _LEAST)
            flow = self._flows.get(name)
            if flow is None:
                flow = self._flows[name] = _Flow(name[1])
            flow.jobs.append((start, job))
            self._changed.notify()

    def get(self) -> tuple[T, bool] | None:
        """Waits for the next job; returns it with whether it is large, or None once the queue is closed and empty.

        `done` must follow for a large one.
        """
        with self._changed:
            while (name := self._next()) is None:
                if self._closed and not self._flows:
                    return None
                self._changed.wait()
            flow = self._flows[name]
            self._now, job = flow.jobs.popleft()
            if not flow.jobs:
                del self._flows[name]
                self._forget()
            self._large_under_way += flow.is_large
            return job, flow.is_large

    def done(self) -> None:
        """Says that a large job has ended."""
        with self._changed:
            self._large_under_way -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Lets `get` return None once all jobs were taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self) -> tuple[K, bool] | None:
        is_full = self._large_under_way >= self._large
        open_flows = (name for name, flow in self._flows.items() if not (is_full and flow.is_large))
        return min(open_flows, key=lambda name: self._flows[name].jobs[0][0], default=None)

    def _forget(self) -> None:
        """Drops the keys whose jobs would have ended by now, which start anew."""
        if len(self._ends) > _MOST_KEYS or not self._flows:
            self._ends = {name: end for name, end in self._ends.items() if end > self._now or name in self._flows}
