"""Threads for work that would hold up the event loop: few, with a bounded queue and a time limit.

A full queue, a time-out and an unexpected exception are refusals; none of them lets a text pass unprotected.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from gateway.errors import GatewayError, Unavailable

_log = logging.getLogger(__name__)


class Workers:
    """`threads` at once, at most `limit` waiting or running; each job gets `timeout` seconds from its submission.

    A job that outlives its time keeps its place until it ends: Python cannot stop a thread.
    """

    def __init__(self, threads: int, limit: int, timeout: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="protect")
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
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.shield(asyncio.wrap_future(work))
        except TimeoutError:
            _abandon(work)
            message = "Looking for private text took too long; nothing was sent."
            raise Unavailable(message, code="detection_timeout", retry_after=1) from None
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


def _abandon[T](work: Future[T]) -> None:
    work.cancel()
    # An exception of a job nobody waits for any more is taken, so that it is not printed with the text in it.
    work.add_done_callback(lambda done: None if done.cancelled() else done.exception())
