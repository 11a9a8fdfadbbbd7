"""Graceful shutdown: accepts no new calls, waits for those under way, then stops."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator
from weakref import WeakSet

from mitmproxy.connection import Client
from mitmproxy.master import Master

from addons.flow_state import FlowStates
from addons.websockets import Stopping, WebSocket
from gateway.server.service_manager import stopping
from gateway.workers.stop_signals import STOP_SIGNALS, ignore_stop_signals, on_stop

_log = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 0.1


class GracefulShutdown:
    """Stops the gateway on a signal. Calls under way have `seconds` to finish; a second signal aborts them.

    It is an addon to keep track of client connections: a call is under way until its response has been written.
    `sockets` are the open WebSockets: idle ones are closed at once, others after their last answer.
    """

    def __init__(self, master: Master, states: FlowStates, seconds: float, sockets: Iterable[WebSocket] = ()) -> None:
        self._master = master
        self._states = states
        self.seconds = seconds
        self._sockets = sockets
        self._waiting: asyncio.Task[None] | None = None
        # A closing connection still flushes its buffer when mitmproxy has already forgotten it.
        self._clients: WeakSet[asyncio.WriteTransport] = WeakSet()

    @property
    def has_begun(self) -> bool:
        return self._states.closing

    def client_connected(self, client: Client) -> None:
        writer = self._master.addons.get("proxyserver").connections[client.id].transports[client].writer
        if isinstance(writer, asyncio.StreamWriter):
            self._clients.add(writer.transport)

    @contextlib.contextmanager
    def on_signals(self, reload: Callable[[], object]) -> Iterator[None]:
        """Starts the shutdown on a signal, or calls `reload` on SIGHUP.

        On exit, ignores further signals: the last records are being written.
        """
        loop = asyncio.get_running_loop()
        # Not `loop.add_signal_handler`: its handlers are removed with the loop.
        on_stop(
            lambda number: loop.call_soon_threadsafe(self._begin, number),
            reload=lambda: loop.call_soon_threadsafe(reload),
        )
        try:
            yield
        finally:
            ignore_stop_signals()

    def _begin(self, number: int) -> None:
        if self._states.closing and number not in STOP_SIGNALS:
            return  # for a terminal that is closed, its shell and the kernel each send SIGHUP
        self._states.closing = True
        stopping()
        self._close_sockets()
        if self._waiting is not None or not self._under_way():
            self._master.shutdown()
            return
        _log.warning("shutting down; waiting at most %g seconds for calls under way", self.seconds)
        self._waiting = asyncio.create_task(self._wait())

    def _under_way(self) -> bool:
        return (
            any(True for _ in self._sockets)
            or self._states.under_way()
            or any(client.get_write_buffer_size() for client in self._clients)
        )

    def _close_sockets(self, *, at_once: bool = False) -> None:
        for socket in list(self._sockets):
            with contextlib.suppress(ValueError):  # its client has left
                self._master.addons.get("proxyserver").inject_event(Stopping(socket.opening, at_once))

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self.seconds):
                # Closes the listeners. Clients that are connected get a 503 for new requests.
                await self._master.addons.get("proxyserver").servers.update([])
                while self._under_way():  # noqa: ASYNC110 - no event marks the end: closed transports leave the WeakSet
                    await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        except TimeoutError:
            _log.warning("shutdown timed out; aborting the calls under way")
            self._close_sockets(at_once=True)
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        finally:
            self._master.shutdown()
