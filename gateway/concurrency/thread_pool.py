"""Runs blocking jobs in a few threads, with a bounded queue and a time limit.

While a job waits, for example for the name model, another thread takes over. A full queue, a timeout and an unexpected
exception raise errors: no text passes unprotected.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from time import monotonic
from typing import Any

from gateway.concurrency.job_context import set_current_job
from gateway.errors import GatewayError, Unavailable

_log = logging.getLogger(__name__)

_NAME = "protect"


class Workers:
    """Runs at most `limit` jobs in `threads` threads. Each job has `timeout` seconds from its submission.

    Python cannot stop a thread. A job that times out keeps its thread and counts towards `limit` until it ends, while
    another thread takes over.

    The executors of the standard library need twice the processor time per job.
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
        """Returns the result of `job`. Raises its GatewayError, or Unavailable for any other failure."""
        if self._busy >= self._limit:
            raise Unavailable("The gateway is busy; try again.", code="overloaded", retry_after=1)
        loop = asyncio.get_running_loop()
        entry = _Job(lambda: job(*args, **kwargs), loop, self._start)
        self._busy += 1
        self._queue.put(entry)
        timer = loop.call_later(self._timeout, entry.give_up)
        try:
            result: T = await entry.waiter
        except GatewayError:
            raise
        except Exception as error:  # noqa: BLE001 - fail closed: any failure of a recognizer refuses the request
            # The exception's text may quote private text, so log only its type.
            _log.error("protection failed: %s", type(error).__name__)
            message = "Detection failed; nothing was sent. Try again."
            raise Unavailable(message, code="detection_failed") from None
        finally:
            timer.cancel()
            entry.wanted = False  # a job that has not started by now never does
        return result

    def close(self) -> None:
        """Stops the threads after their current jobs."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _start(self) -> None:
        self._started += 1
        threading.Thread(target=self._work, name=f"{_NAME}_{self._started}", daemon=True).start()

    def _work(self) -> None:
        while (entry := self._queue.get()) is not None:
            is_needed = entry.do()
            with suppress(RuntimeError):  # the loop may be closed by the time an abandoned job ends
                entry.loop.call_soon_threadsafe(self._leave, entry)
            if not is_needed:
                return
            del entry

    def _leave(self, entry: "_Job") -> None:
        self._busy -= 1
        entry.deliver()


class _Job:
    """A job and the future of its result. `relieve` starts a replacement for its thread."""

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
        """Runs the job in the calling thread. Returns False if another thread has replaced it meanwhile."""
        if not self.wanted:
            return True
        self._running = True
        set_current_job(self)
        try:
            self._result = self._job()
        except BaseException as error:  # noqa: BLE001 - the waiter gets it, and the thread must survive it
            stray = not isinstance(error, Exception) or isinstance(error, StopIteration)
            self._error = RuntimeError(type(error).__name__) if stray else error
        finally:
            set_current_job(None)
        with self._lock:
            self._running = False
            return not self._relieved

    def deliver(self) -> None:
        if self.waiter.done():
            return
        if self._error is not None:
            self.waiter.set_exception(self._error)
        else:
            self.waiter.set_result(self._result)

    def give_up(self) -> None:
        """Fails the job with a timeout. If it occupies a thread, another takes over."""
        if not self.waiter.done():
            message = "Detection took too long; nothing was sent. Try again, or send shorter texts."
            self.waiter.set_exception(Unavailable(message, code="detection_timeout", retry_after=1))
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
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(f"{_NAME}_")]
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    return any(thread.is_alive() for thread in threads)
