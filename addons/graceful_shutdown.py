"""The end in good order: no new calls, those under way come to theirs, then everything stops."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator
from weakref import WeakSet

from mitmproxy.connection import Client
from mitmproxy.master import Master

from addons.flow_state import FlowStates
from gateway.server.gateway_process import STOP_SIGNALS

_log = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 0.1


class GracefulShutdown:
    """What a signal to stop sets off. Calls under way have `seconds`; a second signal ends them at once.

    As an addon, it knows who is connected: a call is under way until its answer has been written.
    """

    def __init__(self, master: Master, states: FlowStates, seconds: float) -> None:
        self._master = master
        self._states = states
        self._seconds = seconds
        self._waiting: asyncio.Task[None] | None = None
        # A connection that is closing writes what it has; mitmproxy does not know it any more by then.
        self._clients: WeakSet[asyncio.WriteTransport] = WeakSet()

    def client_connected(self, client: Client) -> None:
        writer = self._master.addons.get("proxyserver").connections[client.id].transports[client].writer
        if isinstance(writer, asyncio.StreamWriter):
            self._clients.add(writer.transport)

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Signals to stop begin the end; after that they change nothing: the last records are being written."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            # Not the loop's own handlers, which go with the loop.
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(self._begin))
        try:
            yield
        finally:
            for number in STOP_SIGNALS:
                signal.signal(number, signal.SIG_IGN)

    def _begin(self) -> None:
        self._states.closing = True
        if self._waiting is not None or not self._under_way():
            self._master.shutdown()
            return
        _log.warning("stopping when the calls under way have their answers, in %g seconds at most", self._seconds)
        self._waiting = asyncio.create_task(self._wait())

    def _under_way(self) -> bool:
        return self._states.under_way() or any(client.get_write_buffer_size() for client in self._clients)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                # Nobody new can connect; who is connected is told to come again.
                await self._master.addons.get("proxyserver").servers.update([])
                while self._under_way():  # noqa: ASYNC110 - what has ended is known when garbage is collected
                    await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        except TimeoutError:
            _log.warning("calls under way are cut off")
        finally:
            self._master.shutdown()
