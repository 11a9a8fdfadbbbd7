"""Decides which of the waiting jobs is next: one of the key that has been given least of late.

Start-time fair queueing (Goyal, Vin and Cheng, IEEE/ACM Transactions on Networking, 1997): a job may start, in virtual
time, once those of its key before it would have ended; the virtual time is that of the job started last.
"""

import threading
from collections import defaultdict, deque
from collections.abc import Hashable

from gateway.workers.memory import LARGE

_LEAST = 1024
"""Characters that any job counts as, since short ones cost time, too."""
_MOST_KEYS = 4096


class FairQueue[K: Hashable, T]:
    """Waiting jobs by key. At most `large` large ones are taken at a time, so that small ones find a free thread.

    A key's large and small jobs are queued apart. Thread-safe.
    """

    def __init__(self, large: int) -> None:
        self._most_large = large
        self._large_taken = set[T]()
        # By key and whether they are large, first come first served: the virtual starts of jobs, and the jobs.
        self._flows: defaultdict[tuple[K, bool], deque[tuple[float, T]]] = defaultdict(deque)
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
            self._flows[name].append((start, job))
            self._changed.notify()

    def get(self) -> T | None:
        """Waits for the next job, for which `done` must be called later. Returns None once closed and empty."""
        with self._changed:
            while (name := self._next()) is None:
                if self._closed and not self._flows:
                    return None
                self._changed.wait()
            flow = self._flows[name]
            self._now, job = flow.popleft()
            if not flow:
                del self._flows[name]
                self._forget()
            if name[1]:
                self._large_taken.add(job)
            return job

    def done(self, job: T) -> None:
        """Says that a job has ended, or was given up. May be called twice."""
        if job in self._large_taken:
            with self._changed:
                self._large_taken.discard(job)
                self._changed.notify_all()

    def close(self) -> None:
        """Lets `get` return None once all jobs were taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self) -> tuple[K, bool] | None:
        is_full = len(self._large_taken) >= self._most_large
        open_flows = (name for name in self._flows if not (is_full and name[1]))
        return min(open_flows, key=lambda name: self._flows[name][0][0], default=None)

    def _forget(self) -> None:
        """Drops the keys whose jobs would have ended by now, which start anew."""
        if len(self._ends) > _MOST_KEYS or not self._flows:
            self._ends = {name: end for name, end in self._ends.items() if end > self._now or name in self._flows}
