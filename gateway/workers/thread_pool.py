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
from dataclasses import dataclass, field
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
_LATE_SECONDS = 1.0
"""By how much a look at the clock is late when this process has not run meanwhile."""


class Workers:
    """Runs at most `limit` jobs, half of them of one key, in `threads` threads, of which one is for small jobs.

    A job in a thread has `timeout` seconds from its start. While nothing else is under way, the event loop does jobs on
    fewer than `on_loop` characters itself: to hand one to a thread and its result back takes about as long as the job.

    Python cannot stop a thread. A job that times out keeps its thread and counts towards `limit` until it ends, while
    another thread takes over.

    The executors of the standard library need twice the processor time per job.
    """

    def __init__(self, threads: int, limit: int, timeout: float, *, on_loop: int = 0) -> None:
        self._queue = FairQueue[tuple[str, bool], _Job](max(1, threads - 1))
        self._limit = limit
        self._timeout = timeout
        self._on_loop = on_loop
        self._spent = 0.0
        self._busy: Counter[str] = Counter()
        self._started = 0
        for _ in range(threads):
            self._start()

    @property
    def under_way(self) -> int:
        """How many jobs wait or run."""
        return self._busy.total()

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
            return await self._hand_over(job, key, cost, closes=False)
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

    async def _hand_over[T](self, job: Callable[[], T], key: str, cost: int, *, closes: bool) -> T:
        entry = _Job(job, key, cost, closes, self._start)
        self._busy[key] += 1
        self._queue.put(entry, (key, closes), cost)
        self._look_later(entry, self._timeout)
        try:
            result: T = await entry.waiter
            return result
        finally:
            entry.timer.cancel()
            entry.wanted = False  # one that has not started by now never does

    def close(self) -> None:
        """Stops the threads after the jobs that wait."""
        self._queue.close()

    def _start(self) -> None:
        self._started += 1
        threading.Thread(target=self._work, name=f"{DETECTION_THREADS}_{self._started}", daemon=True).start()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            job.do()
            self._queue.done(job)
            with suppress(RuntimeError):  # the loop may be closed by the time an abandoned job ends
                job.loop.call_soon_threadsafe(self._leave, job)
            if job.is_relieved:
                return
            del job

    def _leave(self, job: "_Job") -> None:
        self._busy[job.key] -= 1
        if not self._busy[job.key]:
            del self._busy[job.key]
        if job.cost >= NOTABLE:
            trim_soon(collect=job.cost >= LARGE)
        if job.waiter.done():
            return
        if job.error is not None:
            job.waiter.set_exception(job.error)
        else:
            job.waiter.set_result(job.result)

    def _look_later(self, job: "_Job", seconds: float) -> None:
        job.due = monotonic() + seconds
        job.timer = job.loop.call_later(seconds, self._check_time, job)

    def _check_time(self, job: "_Job") -> None:
        """Fails a job whose time is over, that of waiting or that of running; otherwise looks again later.

        The time in which this process was stopped does not count: a job that was cancelled meanwhile is to end as that.
        """
        now, has_begun = monotonic(), job.has_begun
        if (late := now - job.due) > _LATE_SECONDS:
            job.since += late
        left = job.since + (1 if has_begun else _LONGEST_WAITS) * self._timeout - now
        if late > _LATE_SECONDS or left > 0 or (job.closes and not has_begun):
            self._look_later(job, min(left, self._timeout / 4) if left > 0 else self._timeout / 4)
            return
        if not job.waiter.done() and not job.closes:
            if has_begun:
                message = "Detection took too long; nothing was sent. Try again, or send shorter texts."
                error = Unavailable(message, code="detection_timeout", retry_after=1)
            else:
                message = "The gateway is busy; nothing was sent. Try again."
                error = Unavailable(message, code="overloaded", retry_after=1)
            job.waiter.set_exception(error)
        # If it occupies a thread, another takes over.
        self._queue.done(job)
        job.waits_long()


@dataclass(slots=True, eq=False)
class _Job:
    """A job of an event loop, with the future of its result. `start_thread` starts one in place of its thread."""

    job: Callable[[], Any]
    key: str
    cost: int
    closes: bool
    start_thread: Callable[[], None]
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    since: float = field(default_factory=monotonic)
    """When it was queued or, once it `has_begun`, when it began."""
    has_begun: bool = False
    due: float = 0.0
    """When its time is looked at next, by `timer`."""
    wanted: bool = True
    is_relieved: bool = False
    result: Any = None
    error: BaseException | None = None
    waiter: asyncio.Future[Any] = field(init=False)
    timer: asyncio.TimerHandle = field(init=False)
    _is_running: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.waiter = self.loop.create_future()

    def do(self) -> None:
        """Runs the job in the calling thread. If `is_relieved` afterwards, another has taken the thread's place."""
        if not self.wanted:
            return
        self.since = monotonic()
        self.has_begun = self._is_running = True
        set_current_job(self)
        try:
            self.result = self.job()
        except BaseException as error:  # noqa: BLE001 - the waiter gets it, and the thread must survive it
            stray = not isinstance(error, Exception) or isinstance(error, StopIteration)
            self.error = RuntimeError(type(error).__name__) if stray else error
        finally:
            set_current_job(None)
        with self._lock:
            self._is_running = False

    def waits_long(self) -> None:
        """Has another thread take over, because this one waits."""
        with self._lock:
            if not self._is_running or self.is_relieved:
                return
            self.is_relieved = True
        self.start_thread()


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
