"""Threads for work that would hold up the event loop: few at work, with a bounded queue and a time limit.

One that only waits, for the model of names say, has another take over. A full queue, a time-out and an unexpected
exception are refusals; none of them lets a text pass unprotected.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from time import monotonic
from typing import Any

from gateway.concurrency.job_context import work_for
from gateway.errors import GatewayError, Unavailable

_log = logging.getLogger(__name__)

_NAME = "protect"


class Workers:
    """`threads` at work, at most `limit` jobs under way; each gets `timeout` seconds from its submission.

    A job that outlives its time keeps its place and its thread until it ends, since Python cannot stop one; another
    thread takes over, so that the rest goes on.

    An executor of the standard library would do the same for twice the time of processor, which every request pays.
    """

    def __init__(self, threads: int, limit: int, timeout: float) -> None:
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = threads
        self._limit = limit
        self._timeout = timeout
        self._busy = 0
        self._started = 0
        for _ in range(threads):
            self._start()

    async def run[**P, T](self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of `job`. Raises its GatewayError, or Unavailable in all other cases of failure."""
        if self._busy >= self._limit:
            raise Unavailable("The gateway is busy; try again.", code="overloaded", retry_after=1)
        loop = asyncio.get_running_loop()
        ticket = _Job(lambda: job(*args, **kwargs), loop, self._start)
        self._busy += 1
        self._queue.put(ticket)
        timer = loop.call_later(self._timeout, ticket.give_up)
        try:
            result: T = await ticket.waiter
        except GatewayError:
            raise
        except Exception as error:  # noqa: BLE001 - the fail-closed border: any failure of a recognizer is a refusal
            # The exception itself may repeat the text it failed on, so only its type is told.
            _log.error("protection failed: %s", type(error).__name__)
            message = "Looking for private text failed; nothing was sent."
            raise Unavailable(message, code="detection_failed") from None
        finally:
            timer.cancel()
            ticket.wanted = False  # what has not begun by now never does
        return result

    def close(self) -> None:
        """Lets running jobs end by themselves and takes no more."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _start(self) -> None:
        self._started += 1
        threading.Thread(target=self._work, name=f"{_NAME}_{self._started}", daemon=True).start()

    def _work(self) -> None:
        while (ticket := self._queue.get()) is not None:
            is_needed = ticket.do()
            with suppress(RuntimeError):  # the loop may be closed by the time a job that was given up ends
                ticket.loop.call_soon_threadsafe(self._leave, ticket)
            if not is_needed:
                return
            del ticket

    def _leave(self, ticket: "_Job") -> None:
        self._busy -= 1
        ticket.tell()


class _Job:
    """A job and the one who waits for it. `relieve` starts a thread in place of its own."""

    __slots__ = ("_error", "_job", "_lock", "_relieve", "_relieved", "_result", "_running", "loop", "waiter", "wanted")

    def __init__(self, job: Callable[[], Any], loop: asyncio.AbstractEventLoop, relieve: Callable[[], None]) -> None:
        self._job = job
        self._relieve = relieve
        self.loop = loop
        self.waiter: asyncio.Future[Any] = loop.create_future()
        self.wanted = True
        self._result: Any = None
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._running = self._relieved = False

    def do(self) -> bool:
        """Does the job on the calling thread. False when another thread has taken over meanwhile."""
        if not self.wanted:
            return True
        self._running = True
        work_for(self)
        try:
            self._result = self._job()
        except BaseException as error:  # noqa: BLE001 - it belongs to who waits, and the thread must outlive it
            stray = not isinstance(error, Exception) or isinstance(error, StopIteration)
            self._error = RuntimeError(type(error).__name__) if stray else error
        finally:
            work_for(None)
        with self._lock:
            self._running = False
            return not self._relieved

    def tell(self) -> None:
        if self.waiter.done():
            return
        if self._error is not None:
            self.waiter.set_exception(self._error)
        else:
            self.waiter.set_result(self._result)

    def give_up(self) -> None:
        """Its time is over; if it holds up a thread, another takes over."""
        if not self.waiter.done():
            message = "Looking for private text took too long; nothing was sent."
            self.waiter.set_exception(Unavailable(message, code="detection_timeout", retry_after=1))
        self.waits_long()

    def waits_long(self) -> None:
        """Its thread only waits: another takes over."""
        with self._lock:
            if not self._running or self._relieved:
                return
            self._relieved = True
        self._relieve()


def hanging(grace: float = 1.0) -> bool:
    """Whether a job still runs `grace` seconds after all workers were closed.

    No thread can be ended from outside, and native code in one may not survive the end of the interpreter; a process
    that has to end must leave without it.
    """
    deadline = monotonic() + grace
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(f"{_NAME}_")]
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    return any(thread.is_alive() for thread in threads)
