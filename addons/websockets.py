"""Keeps the open WebSockets, and makes a flow of each message that a client sends on one.

A message is a request of its own: its flow passes all hooks that the flow of an HTTP request does, and has what was
sent. `addons/patches/websocket_frames.py` moves the messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import time
from weakref import WeakKeyDictionary, WeakSet, finalize

from mitmproxy import http
from mitmproxy.proxy.events import MessageInjected

from addons.credentials import SealedHeaders, scrub
from addons.fail_closed import disarm
from addons.flow_state import FlowState, FlowStates
from addons.request_log import RequestLog
from addons.websocket_handshake import PREFIX, Handshake
from gateway.exchange.messages import Gateway, Listener
from gateway.http.header_names import HOP_BY_HOP
from gateway.http.upstream_failures import Fault
from gateway.ids import new_request_id
from gateway.wires import responses

# Header fields of the handshake that say nothing about the messages.
_DROPPED = HOP_BY_HOP | {b"content-length", b"content-type", b"content-encoding", b"accept-encoding", b"expect"}


class Stopping(MessageInjected[bool]):
    """Closes the connection that a flow has opened: at once if `message` says so, else after its last answer."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class WebSocket:
    """An open connection. `headers` are the client's, including credentials; `place` is where messages may go."""

    id: str
    handshake: Handshake
    listener: Listener
    headers: http.Headers = field(repr=False)
    place: tuple[str, int, bytes, bytes]
    owner: str
    ended: Callable[[], object]
    state: FlowState = field(repr=False)
    since: float = field(default_factory=time)
    opening: http.HTTPFlow = field(init=False)


class WebSockets:
    """The open connections of this process.

    A client's message may have `limit` bytes and take `seconds` to arrive, an answer `answer_limit` bytes.
    """

    def __init__(
        self,
        gateway: Gateway,
        states: FlowStates,
        log: RequestLog,
        *,
        limit: int,
        seconds: float,
        answer_limit: int,
    ) -> None:
        self.limit, self.seconds, self.answer_limit = limit, seconds, answer_limit
        self._gateway = gateway
        self._states = states
        self._log = log
        self.live: WeakSet[WebSocket] = WeakSet()
        self._open: WeakKeyDictionary[http.HTTPFlow, WebSocket] = WeakKeyDictionary()

    def begin(self, flow: http.HTTPFlow, state: FlowState, handshake: Handshake) -> None:
        """Makes a request, which has its destination already, the handshake with the upstream."""
        handshake.ask(flow.request)
        # The gateway forgets the conversations of the connection when its flow is dropped, at the latest.
        finalize(flow, self._gateway.disconnected, state.request_id).atexit = False

    def accept(self, flow: http.HTTPFlow, response: http.Response, state: FlowState, handshake: Handshake) -> None:
        """Keeps what the messages of a connection need, if the upstream has agreed to it. Raises GatewayError."""
        handshake.check(response)
        if response.status_code != 101:
            return
        handshake.answer(response)
        kept = [
            (name, value)
            for name, value in state.headers.fields
            if not name.lower().startswith(PREFIX.encode()) and name.lower() not in _DROPPED
        ]
        headers = http.Headers([*kept, (b"content-type", b"application/json")])
        data, owner = flow.request.data, state.caller.key_id if state.caller is not None else ""
        self._open[flow] = WebSocket(
            state.request_id,
            handshake,
            state.listener,
            headers,
            (data.host, data.port, data.scheme, data.path),
            owner,
            lambda: self._gateway.disconnected(state.request_id),
            state,
        )

    def take(self, flow: http.HTTPFlow) -> WebSocket | None:
        """Returns the connection that a flow has opened, once."""
        socket = self._open.pop(flow, None)
        if socket is not None:
            socket.opening = flow
            self.live.add(socket)
        return socket

    def closed(self, socket: WebSocket, messages: tuple[int, int], codes: Sequence[int]) -> None:
        """Logs that a connection has ended, after the client sent and got so many messages, with these codes."""
        self.live.discard(socket)
        self._log.socket_ended(socket.opening, socket.state, messages, codes, time() - socket.since)

    @property
    def closing(self) -> bool:
        """Whether the gateway is stopping."""
        return self._states.closing

    def request(self, socket: WebSocket, text: bytes, since: float) -> http.HTTPFlow:
        """Returns the flow of a message, which began to arrive at `since`. Until it is protected, it cannot be sent."""
        opening = socket.opening
        flow = http.HTTPFlow(opening.client_conn, opening.server_conn, live=True)
        flow.request = http.Request.make("POST", "http://unset.invalid", text)
        flow.request.path = socket.handshake.path
        flow.request.headers = scrub(socket.headers)
        flow.request.timestamp_start, flow.request.timestamp_end = since, time()
        disarm(flow)
        state = FlowState(new_request_id(), socket.listener, socket.headers, socket.handshake.target, responses.WIRE)
        state.connection = socket.id
        self._states.add(flow, state)
        return flow

    def upstream_left(self, flow: http.HTTPFlow) -> None:
        """Notes that the upstream of a message has closed the connection, as no error tells if the client is next."""
        state = self._states.of(flow)
        if state is not None:
            state.fault = state.fault or Fault.CLOSED

    def released(self, socket: WebSocket, flow: http.HTTPFlow) -> bytes | None:
        """Returns what may be sent of a message after all hooks; None unless it was protected for this connection."""
        state, data = self._states.of(flow), flow.request.data
        if state is None or not state.cleared or flow.response is not None or flow.error is not None:
            return None
        if (
            not isinstance(data.headers, SealedHeaders)
            or (data.host, data.port, data.scheme, data.path) != socket.place
        ):
            return None
        data.headers.written = True
        return flow.request.raw_content
