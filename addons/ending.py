"""The end in good order: no new calls, those under way come to theirs, then everything stops."""

import asyncio
import logging

from mitmproxy.master import Master

from addons.state import Visits

_log = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 0.1


class Ending:
    """What a signal to stop sets off. Calls under way have `seconds`; a second signal ends them at once."""

    def __init__(self, master: Master, visits: Visits, seconds: float) -> None:
        self._master = master
        self._visits = visits
        self._seconds = seconds
        self._waiting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Call it on the event loop."""
        if self._waiting is not None or not self._visits.under_way():
            self._master.shutdown()
            return
        _log.warning("stopping when the calls under way have their answers, in %g seconds at most", self._seconds)
        self._visits.closing = True
        self._waiting = asyncio.create_task(self._wait())

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                # Nobody new can connect; who is connected is told to come again.
                await self._master.addons.get("proxyserver").servers.update([])
                while self._visits.under_way():  # noqa: ASYNC110 - what has ended is known when garbage is collected
                    await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)  # the last answer is still on its way out
        except TimeoutError:
            _log.warning("calls under way are cut off")
        finally:
            self._master.shutdown()
