"""Moves the messages of WebSockets, of which each that a client sends is a request with a flow and hooks of its own.

mitmproxy's own layer forwards a message when a hook raises, keeps all messages in memory, lets operators inject some,
and would need restored text in the flow. It is never used: `DeliveringStream` takes this layer for a connection that
`WebSockets` has opened, and mitmproxy's option `websocket` stays off. Upstream would have to let an addon choose the
layer of an upgraded connection.

A message of the client leaves only as `WebSockets.released` returns it. Anything unforeseen closes both connections.
"""

import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from time import time

import orjson
from mitmproxy import http
from mitmproxy.connection import Connection
from mitmproxy.flow import Error
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers.http import HttpErrorHook, HttpRequestHook, HttpResponseHeadersHook, HttpResponseHook
from wsproto.connection import ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage

from addons.patches.connection_limits import Clients, Phase
from addons.patches.response_delivery import Answers, DeliveringStream
from addons.patches.websocket_messages import Responses, error_event, error_of, explained, in_lane, lane_of, parsed
from addons.patches.websocket_peer import (
    FAILED,
    GOING_AWAY,
    LOST,
    NORMAL,
    PASSED_ON,
    POLICY,
    TOO_BIG,
    Commands,
    Peer,
)
from addons.websockets import Stopping, WebSocket, WebSockets
from gateway.errors import GatewayError
from gateway.exchange.streaming.framing import sequence_of, texts_of
from gateway.http.content_encoding import too_large
from gateway.wires import responses
from gateway.wires.base import Body

CHECKED_WITH = "12.2.3"

_log = logging.getLogger(__name__)

# Requests of one connection that have no complete answer, the waiting ones included.
_MOST_REQUESTS = 32
# Bytes that the messages of a connection may take before they count against the room for bodies.
_SMALL = 64 * 1024
# Errors after which a client cannot go on, with the code that closes its connection.
_CLOSING = {"unknown_event": POLICY, "stopping": GOING_AWAY, "unauthorized": POLICY, "key_expired": POLICY}


@dataclass
class Answered(events.Event):
    """A message of the upstream that belongs to an answer, and whether it ends it."""

    text: bytes
    is_last: bool


class Turn(layer.Layer):
    """One message of the client, from its hooks to the end of its answer."""

    def __init__(self, of: context.Context, owner: "WebSocketLayer", flow: http.HTTPFlow) -> None:
        # `of` lists the layers; a list of its own lets this one go.
        super().__init__(of.fork())
        self.flow = flow
        self.size = len(flow.request.raw_content or b"")
        # As the client names it; `lane` is as it was sent.
        self._own_lane = self.lane = lane_of(flow.request.raw_content or b"")
        self.is_sent = self.is_finishing = self.has_ended = False
        self.responses = Responses()
        self._socket = owner
        self._is_refused = False
        self._held: list[bytes] = []
        self._held_size = 0

    def _handle_event(self, event: events.Event) -> Commands:
        if isinstance(event, events.Start):
            yield from self._send()
        elif isinstance(event, Answered) and not self.has_ended:
            yield from self._receive(event)
        elif isinstance(event, events.ConnectionClosed) and not (self.has_ended or self.is_finishing):
            is_client = event.connection is self.context.client
            if not is_client:
                self._socket.sockets.upstream_left(self.flow)
            yield from self._break_off()

    def _send(self) -> Commands:
        flow = self.flow
        yield HttpRequestHook(flow)
        body = self._socket.sockets.released(self._socket.socket, flow) if self._socket.is_open else None
        if body is not None:
            self.lane = lane_of(body)
            self.is_sent = True
            yield from self._socket.server.send(body)
        elif flow.response is not None:
            self._end()
            yield from self._socket.refuse(error_of(flow.response), self._own_lane)
        else:
            yield from self._break_off()

    def _receive(self, event: "Answered") -> Commands:
        flow = self.flow
        if flow.response is None:
            flow.response = http.Response.make(200, b"", {"content-type": "application/json-seq"})
            flow.response.timestamp_start = time()
            yield HttpResponseHeadersHook(flow)
            if flow.response.status_code != 200:
                self._is_refused = True
                yield from self._socket.refuse(error_of(flow.response), self._own_lane)
        piece = sequence_of(event.text)
        if self._is_refused:
            if event.is_last:
                self._end()
            return
        if callable(flow.response.stream):
            yield from self._give(flow.response.stream(piece))
            if event.is_last:
                yield from self._give(flow.response.stream(b""))
        else:
            self._held_size += len(piece)
            if self._held_size > self._socket.sockets.answer_limit:
                raise _Broken("an answer is too large")
            self._held.append(piece)
        if event.is_last:
            yield from self._finish()

    def _finish(self) -> Commands:
        flow, self.is_finishing = self.flow, True
        assert flow.response is not None
        flow.response.timestamp_end = time()
        is_held = not callable(flow.response.stream)
        if is_held:
            flow.response.raw_content = b"".join(self._held)
            self._held.clear()
        yield HttpResponseHook(flow)
        if is_held and flow.response.status_code >= 400:
            yield from self._socket.refuse(error_of(flow.response), self._own_lane)
        elif is_held:
            answer = self._socket.answers.pop(flow.response, None) or flow.response.raw_content or b""
            yield from self._give([answer])
        self._end()

    def _give(self, pieces: bytes | Iterable[bytes]) -> Commands:
        for piece in [pieces] if isinstance(pieces, bytes) else pieces:
            for text in texts_of(piece):
                yield from self._socket.client.send(in_lane(text, self._own_lane))

    def _break_off(self) -> Commands:
        self.is_finishing = True
        self.flow.error = self.flow.error or Error(Error.KILLED_MESSAGE)
        yield HttpErrorHook(self.flow)
        self._end()

    def _end(self) -> None:
        self.has_ended = True
        self.flow.live = False


class WebSocketLayer(layer.Layer):
    """The connection. Its messages are protected one after the other; the answers of several lanes may take turns."""

    def __init__(
        self, of: context.Context, socket: WebSocket, sockets: WebSockets, clients: Clients, answers: Answers
    ) -> None:
        super().__init__(of)
        self.socket, self.sockets, self.clients, self.answers = socket, sockets, clients, answers
        self.client = Peer(of.client, ConnectionType.SERVER, sockets.limit)
        self.server = Peer(of.server, ConnectionType.CLIENT, sockets.answer_limit)
        self.is_open = True
        self._turns: deque[Turn] = deque()
        self._waiting: deque[tuple[bytes, float]] = deque()
        # Messages of the upstream that wait for hooks.
        self._early: deque[bytes] = deque()
        self._early_size = 0
        self._asked: dict[commands.Command, Turn] = {}
        self._counted = 0
        # The responses of the request that ended last.
        self._ended = Responses()

    def _handle_event(self, event: events.Event) -> Commands:
        try:
            yield from self._handle(event)
        except Exception as error:  # noqa: BLE001 - fails closed; a message may hold private text
            place = "" if isinstance(error, _Broken | GatewayError) else f" ({type(error).__name__})"
            _log.warning("closed a WebSocket that could not be continued%s", place)
            yield from self._close(FAILED, FAILED)

    def _handle(self, event: events.Event) -> Commands:
        if isinstance(event, events.CommandCompleted):
            yield from self._run(self._asked.pop(event.command), event)
        elif not self.is_open:
            is_of_client = isinstance(event, events.ConnectionEvent) and event.connection is self.client.conn
            if is_of_client and (not isinstance(event, events.DataReceived) or self.client.has_left(event.data)):
                yield commands.CloseConnection(self.client.conn)
            return
        elif isinstance(event, Stopping):
            if event.message or not (self._turns or self._waiting):
                yield from self._close(GOING_AWAY, GOING_AWAY)
        elif isinstance(event, events.DataReceived):
            peer, other = self._peers(event.connection)
            peer.frames.receive_data(event.data)
            for each in peer.frames.events():
                yield from self._frame(each, peer, other)
                if not self.is_open:
                    return
            if peer is self.client:
                yield from self._count()
        elif isinstance(event, events.ConnectionClosed):
            yield from self._close(FAILED, GOING_AWAY, event)
        yield from self._continue()

    def _peers(self, conn: Connection) -> tuple[Peer, Peer]:
        return (self.client, self.server) if conn is self.client.conn else (self.server, self.client)

    def _frame(self, frame: object, peer: Peer, other: Peer) -> Commands:
        if isinstance(frame, Ping):
            if peer.is_open:
                yield commands.SendData(peer.conn, peer.frames.send(frame.response()))
        elif isinstance(frame, CloseConnection):
            code = frame.code if frame.code in PASSED_ON else NORMAL
            # In an open state, it is this end that found a fault.
            onward = GOING_AWAY if peer is self.client else FAILED
            onward = onward if peer.is_open else code
            codes = (code, onward) if peer is self.client else (onward, code)
            yield from self._close(*codes, events.ConnectionClosed(peer.conn))
        elif isinstance(frame, TextMessage | BytesMessage):
            code = peer.add(frame)
            if code and peer is self.client:
                yield from self.client.send(error_event(explained(code, self.sockets.limit)))
            if code:
                own, onward = code, GOING_AWAY if peer is self.client else FAILED
                yield from self._close(*((own, onward) if peer is self.client else (onward, own)))
            elif frame.message_finished and peer is self.client:
                self._waiting.append((peer.taken(), peer.since))
                if len(self._waiting) + len(self._turns) > _MOST_REQUESTS:
                    raise _Broken("too many requests at once")
            elif frame.message_finished:
                self._early.append(peer.taken())
                self._early_size += len(self._early[-1])
                if self._early_size > self.sockets.answer_limit:
                    raise _Broken("the upstream sends too much at once")

    def _continue(self) -> Commands:
        """Passes on what has arrived of the upstream, and begins the next request, as far as their order allows."""
        while self.is_open and self._early and not self._is_asking:
            text = self._early.popleft()
            self._early_size -= len(text)
            yield from self._answer(text)
        if self.is_open and self._waiting and not self._is_asking and all(turn.is_sent for turn in self._turns):
            text, since = self._waiting.popleft()
            turn = Turn(self.context, self, self.sockets.request(self.socket, text, since))
            self._turns.append(turn)
            yield from self._run(turn, events.Start())
            yield from self._continue()

    @property
    def _is_asking(self) -> bool:
        """Whether hooks of an answer are running. Before its end is recorded, no request could continue it."""
        return any(turn.is_sent for turn in self._asked.values())

    def _answer(self, text: bytes) -> Commands:
        event = parsed(text)
        if event is None:
            raise _Broken("a message is not a JSON object")
        lane = event.get("stream_id")
        sent = [turn for turn in self._turns if turn.is_sent and lane in (None, turn.lane)]
        if event.get("type") == "response.created" and self._ended.has(event):
            # Some upstreams use a name again.
            self._ended = Responses()
        if sent and not self._ended.has(event):
            sent.sort(key=lambda each: (not each.responses.has(event), each.lane != lane))
            turn = next((each for each in sent if each.responses.add(event)), None)
            if turn is None:
                raise _Broken("an event belongs to a response that no request asked for")
            is_last = responses.WIRE.stream.is_last(event) or event.get("type") == "error"
            yield from self._run(turn, Answered(text, is_last))
        elif not sent and event.get("type") == "error":
            # It is about the connection. Nothing in it is restored.
            yield from self.client.send(text)

    def _run(self, turn: Turn, event: events.Event) -> Commands:
        for command in turn.handle_event(event):
            if command.blocking:
                self._asked[command] = turn
            yield command
        if turn.has_ended and turn in self._turns:
            self._turns.remove(turn)
            self._ended = turn.responses
            if self.is_open and self.sockets.closing and not self._turns:
                yield from self._close(GOING_AWAY, GOING_AWAY)

    def refuse(self, error: Body, lane: object) -> Commands:
        """Tells the client that a message was refused, and closes if it cannot go on."""
        yield from self.client.send(in_lane(orjson.dumps(error), lane))
        code = _CLOSING.get(str(error.get("error", {}).get("code")))
        if code:
            yield from self._close(code, GOING_AWAY)

    def _count(self) -> Commands:
        """Counts the messages that have not been sent, and bounds how long one may take to arrive."""
        size = len(self.client.text) + sum(len(text) for text, _ in self._waiting)
        size += sum(turn.size for turn in self._turns if not turn.is_sent)
        client = self.clients.of(self.context.client)
        if self.client.seconds > self.sockets.seconds:
            yield from self._close(POLICY, GOING_AWAY)
        elif size > self.sockets.limit:
            yield from self.client.send(error_event(too_large(self.sockets.limit)))
            yield from self._close(TOO_BIG, GOING_AWAY)
        elif client is not None and size > max(_SMALL, self._counted):
            client.body_bytes, self._counted = 0, 2 * size
            try:
                self.clients.make_room(client, self.socket.owner, self._counted)
            except GatewayError as error:
                yield from self.client.send(error_event(error))
                yield from self._close(TOO_BIG, GOING_AWAY)
        elif client is not None and self._counted and size <= _SMALL:
            client.body_bytes = self._counted = 0

    def _close(self, to_client: int, to_server: int, why: events.ConnectionClosed | None = None) -> Commands:
        """Closes both connections with these codes, and ends what is under way: as if the client had, in a stop."""
        if not self.is_open:
            return
        self.is_open = False
        codes = [
            LOST if why is not None and why.connection is peer.conn and peer.is_open else code
            for peer, code in ((self.client, to_client), (self.server, to_server))
        ]
        yield from self.client.close(to_client, waits=why is None or why.connection is not self.client.conn)
        yield from self.server.close(to_server)
        self._waiting.clear()
        self._early.clear()
        ended = why or events.ConnectionClosed((self.client if self.sockets.closing else self.server).conn)
        for turn in [*self._turns]:
            yield from self._run(turn, ended)
        client = self.clients.of(self.context.client)
        if client is not None:
            client.body_bytes = 0
            # `ConnectionLimits` closes one that does not.
            self.clients.mark(client, Phase.CLOSING)
        self.socket.ended()
        self.socket.opening.live = False
        self.sockets.closed(self.socket, (self.client.received, self.client.sent), codes)


def open_sockets(sockets: WebSockets, clients: Clients) -> None:
    """Has the connections of this process that `sockets` has opened moved by this layer."""

    def upgraded(flow: http.HTTPFlow, of: context.Context) -> layer.Layer | None:
        socket = sockets.take(flow)
        return None if socket is None else WebSocketLayer(of, socket, sockets, clients, DeliveringStream.answers)

    DeliveringStream.upgraded = staticmethod(upgraded)


class _Broken(Exception):
    """The connection cannot be continued."""
