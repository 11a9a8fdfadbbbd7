"""Threads for work that would hold up the event loop: few, with a bounded queue and a time limit.

A full queue, a time-out and an unexpected exception are refusals; none of them lets a text pass unprotected.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import Any

from gateway.errors import GatewayError, Unavailable

_log = logging.getLogger(__name__)

_NAME = "protect"


class Workers:
    """`threads` at once, at most `limit` waiting or running; each job gets `timeout` seconds from its submission.

    A job that outlives its time keeps its place until it ends: Python cannot stop a thread.
    """

    def __init__(self, threads: int, limit: int, timeout: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=_NAME)
        self._limit = limit
        self._timeout = timeout
        self._busy = 0

    async def run[**P, T](self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of `job`. Raises its GatewayError, or Unavailable in all other cases of failure."""
        if self._busy >= self._limit:
            raise Unavailable("The gateway is busy; try again.", code="overloaded", retry_after=1)
        loop = asyncio.get_running_loop()
        self._busy += 1
        work = self._pool.submit(job, *args, **kwargs)
        work.add_done_callback(lambda _: self._call_leave(loop))
        future = asyncio.wrap_future(work)
        future.add_done_callback(_take)
        try:
            done, _ = await asyncio.wait((future,), timeout=self._timeout)
        finally:
            work.cancel()  # what has not begun by now never does
        if not done:
            message = "Looking for private text took too long; nothing was sent."
            raise Unavailable(message, code="detection_timeout", retry_after=1)
        try:
            return future.result()
        except GatewayError:
            raise
        except Exception as error:  # noqa: BLE001 - the fail-closed border: any failure of a recognizer is a refusal
            # The exception itself may repeat the text it failed on, so only its type is told.
            _log.error("protection failed: %s", type(error).__name__)
            message = "Looking for private text failed; nothing was sent."
            raise Unavailable(message, code="detection_failed") from None

    def _call_leave(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop may be closed by the time a job that was given up ends
            loop.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        self._busy -= 1

    def close(self) -> None:
        """Lets running jobs end by themselves and takes no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def hanging(grace: float = 1.0) -> bool:
    """Whether a job still runs `grace` seconds after all workers were closed.

    The interpreter waits at its end for such a thread, however long; a process that has to end must leave without it.
    """
    deadline = monotonic() + grace
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(f"{_NAME}_")]
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    return any(thread.is_alive() for thread in threads)


def _take(future: asyncio.Future[Any]) -> None:
    # An exception that nobody waits for any more is taken, so that it is not printed with the text in it.
    if not future.cancelled():
        future.exception()
