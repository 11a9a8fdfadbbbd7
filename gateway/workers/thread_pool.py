"""Runs blocking jobs in a few threads, with a bounded queue that is fair between keys, and a time limit.

While a job waits for a detection service, another thread takes over. A full queue, a timeout and an unexpected
exception raise errors: no text passes unprotected.
"""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from gateway.detection.job_context import DETECTION_THREADS, set_current_job
from gateway.errors import GatewayError, TooManyRequests, Unavailable
from gateway.workers.fair_queue import FairQueue
from gateway.workers.memory import LARGE, NOTABLE, trim_soon

_log = logging.getLogger(__name__)

_LONGEST_WAITS = 10
"""How many times as long as it may take a job may wait."""
_SECONDS_ON_LOOP = 0.004
"""For which the event loop may do jobs between two of its iterations, since it does nothing else meanwhile."""


class Workers:
    """Runs at most `limit` jobs, half of them of one key, in `threads` threads, of which one is for small jobs.

    A job in a thread has `timeout` seconds from its start. While nothing else is under way, the event loop does jobs on
    fewer than `on_loop` characters itself: to hand one to a thread and its result back takes about as long as the job.

    Python cannot stop a thread. A job that times out keeps its thread and counts towards `limit` until it ends, while
    another thread takes over.

    The executors of the standard library need twice the processor time per job.
    """

    def __init__(self, threads: int, limit: int, timeout: float, *, on_loop: int = 0) -> None:
        self._queue: FairQueue[tuple[str, bool], _Job] = FairQueue(max(1, threads - 1))
        self._limit = limit
        self._timeout = timeout
        self._on_loop = on_loop
        self._spent = 0.0
        self._busy: Counter[str] = Counter()
        self._started = 0
        for _ in range(threads):
            self._start()

    async def run[T](self, job: Callable[[], T], *, key: str = "", cost: int = 0, closes: bool = False) -> T:
        """Returns the result of `job`, which is done for `key` on texts of `cost` characters.

        Raises its GatewayError, or Unavailable for any other failure.

        A job that `closes` an exchange takes its turn like any other and counts towards the limits, but is never
        refused: neither a full queue nor a time limit fails it, it does not wait for the other jobs of its key, and
        any exception of its own is raised unchanged.
        """
        if closes:
            return await self._hand_over(job, key, cost, closes=True)
        if self._busy.total() >= self._limit:
            raise Unavailable("The gateway is busy; try again.", code="overloaded", retry_after=1)
        if self._busy[key] >= max(1, self._limit // 2):
            raise TooManyRequests("Too many requests of this key are waiting; try again.", retry_after=1)
        try:
            if cost < self._on_loop and not self._busy and self._spent < _SECONDS_ON_LOOP:
                return self._do_here(job)
            return await self._hand_over(job, key, cost)
        except GatewayError:
            raise
        except Exception as error:  # noqa: BLE001 - fail closed: any failure of a recognizer refuses the request
            # The exception's text may quote private text, so log only its type.
            _log.error("protection failed: %s", type(error).__name__)
            message = "Detection failed; nothing was sent. Try again."
            raise Unavailable(message, code="detection_failed") from None

    def _do_here[T](self, job: Callable[[], T]) -> T:
        if not self._spent:
            asyncio.get_running_loop().call_soon(self._rest)
        began = monotonic()
        try:
            return job()
        finally:
            self._spent += monotonic() - began

    def _rest(self) -> None:
        self._spent = 0.0

    async def _hand_over[T](self, job: Callable[[], T], key: str, cost: int, *, closes: bool = False) -> T:
        entry = _Job(job, key, asyncio.get_running_loop(), self._timeout, self._start, cost, closes=closes)
        self._busy[key] += 1
        self._queue.put(entry, (key, closes), cost)
        try:
            result: T = await entry.waiter
            return result
        finally:
            entry.end()

    def close(self) -> None:
        """Stops the threads after the jobs that wait."""
        self._queue.close()

    def _start(self) -> None:
        self._started += 1
        threading.Thread(target=self._work, name=f"{DETECTION_THREADS}_{self._started}", daemon=True).start()

    def _work(self) -> None:
        while (taken := self._queue.get()) is not None:
            entry, is_large = taken
            is_needed = entry.do(self._queue.done if is_large else None)
            with suppress(RuntimeError):  # the loop may be closed by the time an abandoned job ends
                entry.loop.call_soon_threadsafe(self._leave, entry)
            if not is_needed:
                return
            del entry, taken

    def _leave(self, entry: "_Job") -> None:
        self._busy[entry.key] -= 1
        if not self._busy[entry.key]:
            del self._busy[entry.key]
        if entry.cost >= NOTABLE:
            trim_soon(collect=entry.cost >= LARGE)
        entry.deliver()


class _Job:
    """A job and the future of its result. `relieve` starts a replacement for its thread."""

    __slots__ = (
        *("_closes", "_error", "_job", "_leave_place", "_lock", "_queued", "_relieve", "_relieved", "_result"),
        *("_running", "_started", "_timeout", "_timer", "cost", "key", "loop", "waiter", "wanted"),
    )

    def __init__(
        self,
        job: Callable[[], Any],
        key: str,
        loop: asyncio.AbstractEventLoop,
        timeout: float,
        relieve: Callable[[], None],
        cost: int,
        *,
        closes: bool,
    ) -> None:
        self.cost = cost
        self._closes = closes
        self._job = job
        self.key = key
        self._relieve = relieve
        self.loop = loop
        self.waiter: asyncio.Future[Any] = loop.create_future()
        self.wanted = True
        self._result: Any = None
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._running = self._relieved = False
        self._leave_place: Callable[[], None] | None = None
        self._timeout = timeout
        self._queued = monotonic()
        self._started: float | None = None
        self._timer = loop.call_later(timeout, self._check_time)

    def do(self, leave_place: Callable[[], None] | None) -> bool:
        """Runs the job in the calling thread. Returns False if another thread has replaced it meanwhile.

        Then, or when the job is given up, calls `leave_place`.
        """
        with self._lock:
            self._leave_place = leave_place
        if self.wanted:
            self._started = monotonic()
            self._running = True
            set_current_job(self)
            try:
                self._result = self._job()
            except BaseException as error:  # noqa: BLE001 - the waiter gets it, and the thread must survive it
                stray = not isinstance(error, Exception) or isinstance(error, StopIteration)
                self._error = RuntimeError(type(error).__name__) if stray else error
            finally:
                set_current_job(None)
        self._leave()
        with self._lock:
            self._running = False
            return not self._relieved

    def _leave(self) -> None:
        with self._lock:
            leave, self._leave_place = self._leave_place, None
        if leave is not None:
            leave()

    def end(self) -> None:
        """Stops the clock. A job that has not started by now never does."""
        self._timer.cancel()
        self.wanted = False

    def deliver(self) -> None:
        if self.waiter.done():
            return
        if self._error is not None:
            self.waiter.set_exception(self._error)
        else:
            self.waiter.set_result(self._result)

    def _check_time(self) -> None:
        """Fails the job if its time is over, that of waiting or that of running; otherwise looks again later."""
        now = monotonic()
        if self._started is not None:
            left = self._started + self._timeout - now
            code = "detection_timeout"
            message = "Detection took too long; nothing was sent. Try again, or send shorter texts."
        else:
            left = self._queued + _LONGEST_WAITS * self._timeout - now
            code, message = "overloaded", "The gateway is busy; nothing was sent. Try again."
        if left > 0 or (self._closes and self._started is None):
            left = left if left > 0 else self._timeout
            self._timer = self.loop.call_later(min(left, self._timeout / 4), self._check_time)
            return
        if not self.waiter.done() and not self._closes:
            self.waiter.set_exception(Unavailable(message, code=code, retry_after=1))
        # If it occupies a thread, another takes over.
        self._leave()
        self.waits_long()

    def waits_long(self) -> None:
        """Has another thread take over, because this one waits."""
        with self._lock:
            if not self._running or self._relieved:
                return
            self._relieved = True
        self._relieve()


def hanging(grace: float = 1.0) -> bool:
    """Returns whether a job still runs `grace` seconds after all pools were closed.

    Threads cannot be killed, and native code in one may crash when the interpreter shuts down, so that a process with
    such a job must exit without finalization.
    """
    deadline = monotonic() + grace
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(f"{DETECTION_THREADS}_")]
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    return any(thread.is_alive() for thread in threads)
