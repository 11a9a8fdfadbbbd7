"""Bounds the heads, chunks and bodies of HTTP/1 messages, from clients and from upstreams.

mitmproxy reads a whole head before it calls a hook, so its readers are replaced. Upstream would have to offer options
for these limits, and search for `Host` in linear time.
"""

import abc
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import h11
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer
from mitmproxy import http
from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import ClientTLSLayer
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestHeaders,
    RequestProtocolError,
    ResponseHeaders,
    ResponseProtocolError,
)

from addons.mitm_errors import error_page, error_response, family_of_head
from addons.patches.connection_limits import Clients, ClientState, Phase
from addons.patches.first_bytes import PREFACE_BYTES, starts_like_http
from gateway.errors import BadRequest, GatewayError, HeadTooLarge
from gateway.http.content_encoding import too_large

CHECKED_WITH = "12.2.3"

# A body may have this many chunks of any size, plus one for this many bytes.
_FREE_CHUNKS, _BYTES_PER_CHUNK = 16_384, 256
_LONGEST_CHUNK_HEADER = 4096
# Reads before the protocol of a connection is known (from a ClientHello, or the first lines of a head).
_PREFACE_PIECES = 256
_MOST_ENCRYPTED = 64 * 1024
# The head of an interim response (RFC 9110, section 15.2). After 101, the connection has another protocol.
_INTERIM = re.compile(rb"HTTP/1\.1 1(?!01)\d\d[^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n")

type Commands = layer.CommandGenerator[None]


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """The largest head or trailers (`head_bytes`, `head_lines`) and the largest request body (`body_bytes`).

    A line has no limit of its own: `head_bytes` bounds it.
    """

    head_bytes: int
    head_lines: int
    body_bytes: int


class _HeadTooLarge(h11.RemoteProtocolError):
    pass


class _BodyTooLarge(h11.RemoteProtocolError):
    pass


class BoundedBuffer(ReceiveBuffer):
    """Raises as soon as a head or trailers exceed the limits, complete or not."""

    def __init__(self, limits: MessageLimits) -> None:
        super().__init__()
        self._limits = limits
        self.lines: Sequence[bytes | bytearray] = []

    def maybe_extract_lines(self) -> list[bytearray] | None:
        lines: list[bytearray] | None = super().maybe_extract_lines()
        if lines is None:
            too_large = len(self) > self._limits.head_bytes
            self.lines = bytes(self).split(b"\n") if too_large else []
        else:
            self.lines = lines
            # The first line is the request or status line.
            too_large = len(lines) > self._limits.head_lines + 1 or sum(map(len, lines)) > self._limits.head_bytes
        if too_large:
            raise _HeadTooLarge("head too large")
        return lines


class BoundedChunks(ChunkedReader):
    """Raises for a body in too many small chunks. Reads and drops trailers (RFC 9112, section 7.1.2)."""

    def __init__(self) -> None:
        super().__init__()
        self._chunks = self._bytes = 0

    def __call__(self, buffer: ReceiveBuffer) -> Any:
        part = super().__call__(buffer)
        if part is None:
            if not self._reading_trailer and len(buffer) > _LONGEST_CHUNK_HEADER:
                raise h11.RemoteProtocolError("chunk header too long")
        elif isinstance(part, h11.EndOfMessage):
            return h11.EndOfMessage()
        else:
            self._chunks += part.chunk_start
            self._bytes += len(part.data)
            if self._chunks > _FREE_CHUNKS + self._bytes // _BYTES_PER_CHUNK:
                raise h11.RemoteProtocolError("too many chunks")
        return part


class _Bounded(_http1.Http1Connection):
    """The part of reading that clients and upstreams share."""

    limits: ClassVar[MessageLimits]

    def read_body(self, event: events.Event) -> Commands:
        if type(self.body_reader) is ChunkedReader:
            self.body_reader = BoundedChunks()
        if not isinstance(event, events.DataReceived):
            yield from super().read_body(event)
            return
        try:
            parts, ended = self._read_parts()
        except h11.ProtocolError as error:
            yield from self._unreadable(error)
            return
        if parts:
            assert self.stream_id is not None
            # One event for all chunks: every event passes through all layers above.
            yield ReceiveHttp(self.ReceiveData(self.stream_id, b"".join(parts)))
        if ended:
            yield from self._end_of_body()

    def _read_parts(self) -> tuple[list[bytes], bool]:
        """Returns the parts of the body in the buffer, and whether the body ends there. Raises h11.ProtocolError."""
        parts: list[bytes] = []
        while (part := self.body_reader(self.buf)) is not None:
            if isinstance(part, h11.EndOfMessage):
                return parts, True
            parts.append(part.data)
        return parts, False

    def _end_of_body(self) -> Commands:
        assert self.request is not None and self.stream_id is not None
        if self.request.data.method.upper() != b"CONNECT":
            yield ReceiveHttp(self.ReceiveEndOfMessage(self.stream_id))
        is_request = isinstance(self, _http1.Http1Server)
        yield from self.mark_done(request=is_request, response=not is_request)

    @abc.abstractmethod
    def _unreadable(self, error: h11.ProtocolError) -> Commands:
        """Ends the connection because of a body that breaks the protocol or a limit."""


class BoundedServer(_Bounded, _http1.Http1Server):
    """Reads from clients. To refuse, sends a response, discards further data for a while, and closes."""

    clients: ClassVar[Clients]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.buf: BoundedBuffer = BoundedBuffer(self.limits)
        # A connection that the limits do not know has a state of its own.
        self._client = self.clients.of(context.client) or ClientState(context.client.id, "")
        self._received = 0
        self._closes = False

    def _handle_event(self, event: events.Event) -> Commands:
        yield from super()._handle_event(event)
        if (
            isinstance(event, events.DataReceived)
            and self.state == self.wait
            and len(self.buf) > self.limits.head_bytes
        ):
            # The client pipelines requests while it waits for this response.
            yield commands.CloseConnection(self.conn)

    def read_headers(self, event: events.ConnectionEvent) -> Commands:
        if isinstance(event, events.DataReceived) and self.buf:
            self.clients.mark(self._client, Phase.HEAD)
        self._client.request = self._client.body_limit = self._client.refusal = self._client.ended_by = None
        self._client.request_id = ""
        self._client.encode = partial(_encrypted, self.context)
        self._received = 0
        try:
            for command in super().read_headers(event):
                if self.state != self.read_headers:
                    # It belongs to the body, of which a part came with the head.
                    yield command
                    continue
                self._client.family = family_of_head(self.buf.lines)
                if isinstance(command, commands.SendData):
                    # mitmproxy has refused a malformed head, and would call the hooks with it.
                    yield from self._refuse(BadRequest("The request could not be read."))
                    return
                if isinstance(command, ReceiveHttp) and isinstance(command.event, RequestHeaders):
                    # The gateway sets other headers, so mitmproxy cannot tell later.
                    request = command.event.request
                    self._closes = _asks_to_close(request)
                yield command
        except _HeadTooLarge:
            self._client.family = family_of_head(self.buf.lines)
            limits = self.limits
            message = (
                f"The request head is too large; send at most {limits.head_bytes} bytes and {limits.head_lines} fields."
            )
            yield from self._refuse(HeadTooLarge(message))

    def read_body(self, event: events.Event) -> Commands:
        self._client.request = self.request
        self.clients.mark(self._client, Phase.BODY)
        yield from super().read_body(event)

    def _read_parts(self) -> tuple[list[bytes], bool]:
        parts, ended = super()._read_parts()
        self._received += sum(map(len, parts))
        passes_through = self.request is not None and self.request.stream
        if self._received > self._body_limit and not passes_through:
            raise _BodyTooLarge("body too large")
        return parts, ended

    @property
    def _body_limit(self) -> int:
        limit = self._client.body_limit
        return self.limits.body_bytes if limit is None else limit

    def _unreadable(self, error: h11.ProtocolError) -> Commands:
        if self._answered():
            yield commands.CloseConnection(self.conn)
        elif isinstance(error, _BodyTooLarge):
            yield from self._refuse(too_large(self._body_limit))
        else:
            yield from self._refuse(BadRequest("The request body cannot be read: it breaks the rules of HTTP/1.1."))
        yield ReceiveHttp(RequestProtocolError(self.stream_id, "unreadable body", ErrorCode.GENERIC_CLIENT_ERROR))

    def _answered(self) -> bool:
        """Returns whether the response has begun. `100 Continue` precedes it."""
        return self.response is not None and self.response.status_code != 100

    def _refuse(self, error: GatewayError) -> Commands:
        self.clients.unreadable.count()
        request_id = self.clients.refused(self._client, error, self.context.client)
        yield from self._close_with(error_page(error, request_id, self._client.family))

    def _close_with(self, response: bytes) -> Commands:
        """Sends the last response. Closing with unread data would reset the connection, and could lose it."""
        yield commands.SendData(self.conn, response)
        self._client.encode = None
        if not self.conn.tls and sum(isinstance(each, http_layers.HttpLayer) for each in self.context.layers) == 1:
            # Inside TLS or a tunnel, half-closing is not possible: the client closes, or `ConnectionLimits` does.
            yield commands.CloseTcpConnection(self.conn, half_close=True)
        self.clients.mark(self._client, Phase.CLOSING)
        self._received = 0
        self.state = self.discard
        yield from self.discard(events.DataReceived(self.conn, b""))

    def discard(self, event: events.Event) -> Commands:
        self._received += len(self.buf)
        self.buf = BoundedBuffer(self.limits)
        if isinstance(event, events.ConnectionClosed) or self._received > self.limits.body_bytes:
            yield commands.CloseConnection(self.conn)

    def send(self, event: HttpEvent) -> Commands:
        if self.state == self.discard:
            # The last response is sent already.
            return
        if isinstance(event, ResponseHeaders) and self._closes and event.response.status_code >= 200:
            event.response.headers["connection"] = "close"
        refused = isinstance(event, ResponseProtocolError) and not self._answered()
        if not refused or not self.conn.state & ConnectionState.CAN_WRITE:
            yield from super().send(event)
            if self._answered():
                self._client.encode = None
            return
        assert isinstance(event, ResponseProtocolError)
        status = event.code.http_status_code()
        prepared = self._client.refusal if event.code is ErrorCode.KILL else None
        if prepared is not None:
            yield from self._close_with(prepared)
        elif status is not None and not self.request_done:
            yield from self._close_with(error_response(status, event.message, self._client.family))
        else:
            yield from super().send(event)

    def make_pipe(self) -> Commands:
        assert self.request is not None
        # After CONNECT, the client sends a head or a ClientHello; an upgraded connection is a tunnel at once.
        connects = self.request.method.upper() == "CONNECT"
        self.clients.mark(self._client, Phase.HEAD if connects else Phase.TUNNEL)
        yield from super().make_pipe()

    def mark_done(self, *, request: bool = False, response: bool = False) -> Commands:
        if request:
            self.clients.mark(self._client, Phase.BUSY)
        yield from super().mark_done(request=request, response=response)
        if self.state == self.read_headers and not self.buf:
            self.clients.mark(self._client, Phase.IDLE)


class BoundedClient(_Bounded, _http1.Http1Client):
    """Reads from upstreams. A message beyond the limits is a protocol error of the upstream."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.buf = BoundedBuffer(self.limits)

    def read_headers(self, event: events.ConnectionEvent) -> Commands:
        while self.request and (interim := _INTERIM.match(bytes(self.buf))):
            # mitmproxy would take it for the response.
            self.buf.maybe_extract_at_most(interim.end())
        try:
            yield from super().read_headers(event)
        except _HeadTooLarge as error:
            yield from self._unreadable(error)

    def _unreadable(self, error: h11.ProtocolError) -> Commands:
        assert self.stream_id is not None
        yield commands.CloseConnection(self.conn)
        # `addons/upstream_faults.py` recognizes the beginning of this message.
        message = f"HTTP/1 protocol error: {'head ' if isinstance(error, _HeadTooLarge) else ''}beyond the limits"
        yield ReceiveHttp(ResponseProtocolError(self.stream_id, message, ErrorCode.GENERIC_SERVER_ERROR))


def _asks_to_close(request: http.Request) -> bool:
    """Whether a client wants its connection closed after the response (RFC 9112, section 9.3)."""
    options = {option.strip().lower() for option in request.headers.get("connection", "").split(",")}
    return "close" in options or (request.http_version != "HTTP/1.1" and "keep-alive" not in options)


class _Closed(layer.Layer):
    """Closes a connection whose protocol cannot be told."""

    def _handle_event(self, event: events.Event) -> Commands:
        yield commands.CloseConnection(self.context.client)


class PrefaceLimit:
    """The addon. Bounds the data, and the time, that a client may take before mitmproxy knows its protocol."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def next_layer(self, data: layer.NextLayer) -> None:
        if data.layer is not None:
            return
        pieces = [event.data for event in data.events if isinstance(event, events.DataReceived)]
        start = b"".join(pieces)
        is_http = starts_like_http(start)
        # `host_header` waits no longer for the head of a request, so that the HTTP layer can refuse it.
        if len(pieces) > _PREFACE_PIECES or (len(start) > PREFACE_BYTES and not is_http):
            data.layer = _Closed(data.context)
            return
        state = self._clients.of(data.context.client)
        if state is not None and pieces:
            self._clients.mark(state, Phase.HEAD)
            if is_http:
                state.encode = partial(_encrypted, data.context)


def _encrypted(context: Context, data: bytes) -> bytes:
    """Encrypts `data` for every TLS session that the client is in, innermost first."""
    for each in reversed(context.layers):
        if isinstance(each, ClientTLSLayer) and each.tls is not None:
            each.tls.sendall(data)
            data = each.tls.bio_read(_MOST_ENCRYPTED)
    return data


def bound_messages(limits: MessageLimits, clients: Clients) -> None:
    """Replaces mitmproxy's HTTP/1 readers in this process by those that enforce the limits."""
    _Bounded.limits = limits
    BoundedServer.clients = clients
    replaced: Any = http_layers
    replaced.Http1Server, replaced.Http1Client = BoundedServer, BoundedClient
    # mitmproxy checks the type of every field of every message, except under `python -O`.
    replaced = http.MessageData
    replaced.__post_init__ = lambda _: None
