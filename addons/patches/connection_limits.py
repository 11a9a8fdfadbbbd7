"""Bounds what a client may use before it is authenticated: connections, descriptors, memory and time.

mitmproxy accepts every connection, reads as fast as the client sends, and waits ten minutes for the next byte.
Upstream would have to offer limits for each of these; until then, its handlers' transports are used directly.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import Enum
from time import monotonic, time
from typing import Any

from mitmproxy import connection, ctx, http
from mitmproxy.flow import Error
from mitmproxy.net.http.http1 import assemble_response
from mitmproxy.proxy import events
from mitmproxy.proxy.server_hooks import ServerConnectionHookData

from addons.logs import RareWarning
from addons.metered_reader import MeteredReader
from addons.mitm_errors import error_page
from gateway.config.settings import Settings
from gateway.errors import GatewayError, LateRequest, TooManyRequests, Unavailable
from gateway.ids import new_request_id
from gateway.models import Family
from gateway.workers.memory import trim_soon

CHECKED_WITH = "12.2.3"

# Upstream connections that one client connection may keep open.
_MOST_UPSTREAMS = 8
_LINGER_SECONDS = 5.0
_SWEEP_SECONDS = 1.0
# One caller may have this part of the room for bodies.
_SHARES = 4
_ROOM_AFTER_SECONDS = 5


class Phase(Enum):
    """The activity of a client connection. `BUSY`: it waits for its response."""

    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    BUSY = "busy"
    TUNNEL = "tunnel"
    CLOSING = "closing"


@dataclass(slots=True, eq=False)
class ClientState:
    """One client connection.

    `since` is the time its phase began; `request` is the request being read, `family` the API it is for, and
    `body_limit` the largest body it may have. `owner` is the caller whose key the head has, and `body_bytes` what its
    body may take in memory until it is answered. `refusal` is the response that ends the connection when the request is
    aborted. `encode` turns a response into bytes to send (encrypted, inside TLS); None while the protocol is unknown
    and once the request is answered. `opening` holds the ids of upstream connections being established. `request_id` is
    that of the request whose hooks have been called, `ended_by` the error which ended it since then.
    """

    id: str
    address: str
    reader: MeteredReader | None = None
    phase: Phase = Phase.IDLE
    since: float = field(default_factory=monotonic)
    request: http.Request | None = None
    family: Family = "openai"
    body_limit: int | None = None
    owner: str = ""
    body_bytes: int = 0
    refusal: bytes | None = field(default=None, repr=False)
    encode: Callable[[bytes], bytes] | None = None
    opening: set[str] = field(default_factory=set)
    request_id: str = ""
    ended_by: GatewayError | None = None

    def until_closed(self) -> AbstractContextManager[None]:
        """Cancels what the current task awaits in the context when the client closes, and raises ClientGone."""
        return nullcontext() if self.reader is None else self.reader.until_closed()

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Reads next to nothing from the client for the duration of the context."""
        if self.reader is None:
            yield
            return
        self.reader.hold()
        try:
            yield
        finally:
            self.reader.release()


class Clients:
    """The open client connections, and the order in which those that wait for data began to wait.

    The bodies of their requests may take `room` bytes. `unread` gets the request id and the error of a request that was
    refused before any hook was called.
    """

    def __init__(
        self,
        room: int = 64 * 1024 * 1024,
        unread: Callable[[str, GatewayError, connection.Client], None] = lambda *_: None,
    ) -> None:
        self._room = room
        self._unread = unread
        self._all: dict[str, ClientState] = {}
        self._waiting: dict[str, ClientState] = {}
        self.unreadable = RareWarning("refused requests whose head or body could not be read: %d")
        self._addresses: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[ClientState]:
        return iter([*self._all.values()])

    def of(self, client: connection.Client) -> ClientState | None:
        return self._all.get(client.id)

    def count(self, address: str) -> int:
        return self._addresses[address]

    def add(self, state: ClientState) -> None:
        self._all[state.id] = self._waiting[state.id] = state
        self._addresses[state.address] += 1

    def remove(self, client_id: str) -> None:
        state = self._all.pop(client_id, None)
        self._waiting.pop(client_id, None)
        if state is not None and state.body_bytes:
            trim_soon()
        if state is not None:
            self._addresses[state.address] -= 1
            if not self._addresses[state.address]:
                del self._addresses[state.address]

    def until_closed(self, client: connection.Client) -> AbstractContextManager[None]:
        """As that of its state; does nothing for a connection that is not known."""
        state = self.of(client)
        return nullcontext() if state is None else state.until_closed()

    def mark(self, state: ClientState | None, phase: Phase) -> None:
        """Records that a connection has entered a phase."""
        if state is None or state.phase is phase:
            return
        state.phase, state.since = phase, monotonic()
        if phase is Phase.IDLE and state.body_bytes:
            state.body_bytes = 0
            trim_soon()
        if phase in (Phase.IDLE, Phase.BUSY, Phase.TUNNEL):
            self._waiting.pop(state.id, None)
        if phase not in (Phase.BUSY, Phase.TUNNEL) and state.id in self._all:
            # At the end of the order, unless it was waiting already.
            self._waiting.setdefault(state.id, state)

    def make_room(self, state: ClientState, owner: str, size: int) -> None:
        """Counts a body until it is answered. Raises TooManyRequests beyond the caller's share, or Unavailable.

        A caller with no other body under way has room for one, unless all of it is taken.
        """
        bodies = [each for each in self._all.values() if each.body_bytes]
        own = sum(each.body_bytes for each in bodies if each.owner == owner)
        if own and own + size > self._room // _SHARES:
            message = "Too much text of this key is under way; send less at once."
            raise TooManyRequests(message, retry_after=_ROOM_AFTER_SECONDS)
        if bodies and sum(each.body_bytes for each in bodies) + size > self._room:
            message = "Too much text is under way; try again."
            raise Unavailable(message, code="overloaded", retry_after=_ROOM_AFTER_SECONDS)
        state.owner, state.body_bytes = owner, size

    def refused(self, state: ClientState, error: GatewayError, client: connection.Client) -> str:
        """Notes that a request is refused whose head or body could not be read. Returns its id."""
        state.ended_by = error
        request_id = state.request_id or new_request_id()
        if not state.request_id:
            self._unread(request_id, error, client)
        return request_id

    def answer_at_once(self, flow: http.HTTPFlow) -> None:
        """Sends a refusal without reading the body. mitmproxy would read all of it first."""
        client = self.of(flow.client_conn)
        if client is not None and flow.response is not None:
            flow.response.headers["connection"] = "close"
            client.refusal = assemble_response(flow.response)
            flow.error = Error(Error.KILLED_MESSAGE)

    def longest_waiting(self, address: str | None = None) -> ClientState | None:
        """Returns the connection that has waited longest for data; of one address, if given."""
        return next((each for each in self._waiting.values() if address in (None, each.address)), None)


class ConnectionLimits:
    """The addon. At most `connections` at a time; beyond, closes the one that has waited longest for data."""

    def __init__(self, clients: Clients, settings: Settings, connections: int) -> None:
        self._clients = clients
        self._settings = settings
        self._connections = connections
        self._sweeping: asyncio.Task[None] | None = None
        self._refused = RareWarning("refused connections beyond `max_connections` or `max_connections_per_address`: %d")
        self._evicted = RareWarning("closed idle connections to make room for new ones: %d")
        self._late = RareWarning("closed connections whose request did not arrive in time: %d")
        self._warnings = (self._refused, self._evicted, self._late, clients.unreadable)

    def running(self) -> None:
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().create_task(self._sweep())

    def done(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        for each in self._warnings:
            each.flush(at_once=True)

    def client_connected(self, client: connection.Client) -> None:
        address = str(client.peername[0]) if client.peername else ""
        if not (self._has_room(None) and self._has_room(address)):
            # mitmproxy closes a connection that has an error before it reads from it.
            client.error = "too many connections"
            self._refused.count()
            return
        state = ClientState(client.id, address)
        handler = _handler(client.id)
        if handler is not None:
            transport = handler.transports[client]
            transport.reader = state.reader = MeteredReader(transport.reader)
        self._clients.add(state)

    async def client_disconnected(self, client: connection.Client) -> None:
        self._clients.remove(client.id)
        await _release(_handler(client.id), client)

    async def server_disconnected(self, data: ServerConnectionHookData) -> None:
        await _release(_handler(data.client.id), data.server)

    def server_connect(self, data: ServerConnectionHookData) -> None:
        state = self._clients.of(data.client)
        handler = _handler(data.client.id)
        if state is None or handler is None:
            return
        self._hold(state, data.server)
        others = [each for each in handler.transports if each is not handler.client and each is not data.server]
        for idle in others[: len(others) - _MOST_UPSTREAMS + 1] if len(others) >= _MOST_UPSTREAMS else ():
            transport = handler.transports[idle]
            # Cancelled before it is connected, it would never reach `server_connect_error`.
            if transport.handler is not None and transport.writer is not None:
                transport.handler.cancel("too many upstream connections")

    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """Waits for the answer of another proxy as for the connection to it."""
        self._hold(self._clients.of(flow.client_conn), flow.server_conn)

    def _hold(self, state: ClientState | None, server: connection.Server) -> None:
        if state is not None and state.reader is not None and server.id not in state.opening:
            # Data sent before the upstream is connected would be kept in memory.
            state.opening.add(server.id)
            state.reader.hold()

    def server_connected(self, data: ServerConnectionHookData) -> None:
        self.server_connect_error(data)
        state = self._clients.of(data.client)
        if state is not None:
            # Where there is no request, a connected upstream is the only sign of a tunnel.
            self._clients.mark(state, Phase.TUNNEL if state.phase in (Phase.IDLE, Phase.HEAD) else Phase.BUSY)

    def server_connect_error(self, data: ServerConnectionHookData) -> None:
        state = self._clients.of(data.client)
        if state is not None and state.reader is not None and data.server.id in state.opening:
            state.opening.remove(data.server.id)
            state.reader.release()

    proxy_answered = server_connect_error

    def _has_room(self, address: str | None) -> bool:
        """Returns whether one more connection fits (in total, or of one address); closes an idle one to make it fit."""
        taken, most = len(self._clients), self._connections
        if address is not None:
            # The same share of the connections where open files allow fewer than the settings.
            share = self._settings.max_connections_per_address * self._connections // self._settings.max_connections
            taken, most = self._clients.count(address), max(1, share)
        if taken < most:
            return True
        oldest = self._clients.longest_waiting(address)
        if oldest is None or not self._close(oldest):
            return False
        self._evicted.count()
        return True

    def _close(self, state: ClientState) -> bool:
        handler = _handler(state.id)
        transport = handler.transports.get(handler.client) if handler is not None else None
        if transport is None or transport.handler is None:
            return False
        transport.handler.cancel("closed by the gateway")
        self._clients.remove(state.id)
        return True

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            for each in self._warnings:
                each.flush()
            # In a function of its own: a name here would keep a connection and its flow alive while this sleeps.
            self._close_late()

    def _close_late(self) -> None:
        for state in self._clients:
            if not self._is_late(state, monotonic()):
                continue
            incomplete = state.phase in (Phase.HEAD, Phase.BODY)
            if incomplete:
                self._answer_late(state)
            if self._close(state) and incomplete:
                self._late.count()

    def _answer_late(self, state: ClientState) -> None:
        """Sends a 408 if no response has begun. Closing the connection flushes it."""
        handler = _handler(state.id)
        transport = handler.transports.get(handler.client) if handler is not None else None
        if state.encode is not None and transport is not None and not transport.writer.is_closing():
            error = LateRequest("The request did not arrive in time; send it again.")
            request_id = self._clients.refused(state, error, handler.client)
            transport.writer.write(state.encode(error_page(error, request_id, state.family)))
            state.encode = None

    def _is_late(self, state: ClientState, now: float) -> bool:
        spent = now - state.since
        match state.phase:
            case Phase.IDLE:
                return spent > self._settings.idle_timeout_seconds
            case Phase.HEAD:
                return spent > self._settings.head_timeout_seconds
            case Phase.BODY:
                if state.request is not None and state.request.stream:
                    # Streamed to a host that the proxy does not intercept.
                    return False
                silent = now - state.reader.read_at if state.reader is not None else 0.0
                return spent > self._settings.body_timeout_seconds or silent > self._settings.head_timeout_seconds
            case Phase.TUNNEL:
                # The time of the last event of any kind, in either direction.
                handler = _handler(state.id)
                silent = time() - handler.timeout_watchdog.last_activity if handler is not None else 0.0
                return silent > self._settings.tunnel_timeout_seconds
            case Phase.CLOSING:
                return spent > _LINGER_SECONDS
            case _:
                return False


async def _release(handler: Any, ended: connection.Connection) -> None:
    """Closes a connection that mitmproxy has left open.

    A reader that is cancelled while it waits for the lock of `ConnectionHandler.server_event` ends without closing its
    socket and without telling the layers, so the peer could neither send on nor notice.
    """
    transport = handler.transports.get(ended) if handler is not None else None
    if transport is None or transport.writer is None:
        return
    ended.state = connection.ConnectionState.CLOSED
    await handler.server_event(events.ConnectionClosed(ended))
    transport.writer.close()
    handler.transports.pop(ended, None)


def _handler(client_id: str) -> Any:
    """Returns mitmproxy's handler of a client connection; None for UDP, and outside a running proxy."""
    proxyserver = ctx.master.addons.get("proxyserver")
    return proxyserver.connections.get(client_id) if proxyserver is not None else None
