"""Bounds HTTP/1 messages below the hooks: heads, lines, chunks and bodies, of clients and of upstreams.

mitmproxy has no options for these, and reads a head whole before any hook sees it. Written against mitmproxy 12.2;
`tests/addons/test_head_limits.py` fails when the internals that this module builds on change.
"""

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import h11
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer
from mitmproxy.addons.next_layer import NeedsMoreData, NextLayer
from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import ClientTLSLayer
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestProtocolError,
    ResponseProtocolError,
)

from addons.connection_limits import Clients, Phase
from addons.logs import RareWarning
from addons.mitm_errors import error_page
from gateway.errors import BadRequest, GatewayError, HeadTooLarge, TooLarge

# A body may come in this many chunks, however small, and one more for each so many bytes.
_FREE_CHUNKS, _BYTES_PER_CHUNK = 16_384, 256
_LONGEST_CHUNK_HEADER = 4096
# What a client may send, and in how many pieces, before its protocol is known (a TLS hello, the first lines of a head).
_PREFACE_BYTES, _PREFACE_PIECES = 64 * 1024, 256
_MOST_ENCRYPTED = 64 * 1024

type Commands = layer.CommandGenerator[None]


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """`head_bytes` and `head_lines` of a head or of trailers; `body_bytes` of a request's body."""

    head_bytes: int
    head_lines: int
    body_bytes: int


class _HeadTooLarge(h11.RemoteProtocolError):
    def __init__(self) -> None:
        super().__init__("head too large")


class _BodyTooLarge(h11.RemoteProtocolError):
    pass


class BoundedBuffer(ReceiveBuffer):
    """Refuses a head, or trailers, beyond the limits; also one that has not ended yet."""

    def __init__(self, limits: MessageLimits) -> None:
        super().__init__()
        self._limits = limits

    def maybe_extract_lines(self) -> list[bytearray] | None:
        lines: list[bytearray] | None = super().maybe_extract_lines()
        if lines is None:
            too_large = len(self) > self._limits.head_bytes
        else:
            # The first line is not a field.
            too_large = len(lines) > self._limits.head_lines + 1 or sum(map(len, lines)) > self._limits.head_bytes
        if too_large:
            raise _HeadTooLarge
        return lines


class BoundedChunks(ChunkedReader):
    """Refuses a body in tiny pieces. Reads trailers and drops them (RFC 9112 section 7.1.2)."""

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
    """What reading from a client and from an upstream have in common."""

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
            # One event for all, however many chunks they came in: each passes through every layer above.
            yield ReceiveHttp(self.ReceiveData(self.stream_id, b"".join(parts)))
        if ended:
            yield from self._end_of_body()

    def _read_parts(self) -> tuple[list[bytes], bool]:
        """What the buffer holds of the body, and whether that is its end. Raises h11.ProtocolError."""
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
        """Ends the connection over a body that breaks the rules or a limit."""


class BoundedServer(_Bounded, _http1.Http1Server):
    """Reads from clients. Refuses with a response, then discards what the client still sends, and closes."""

    clients: ClassVar[Clients]
    refusals: ClassVar[RareWarning]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.buf = BoundedBuffer(self.limits)
        self._client = self.clients.of(context.client)
        self._received = 0

    def _handle_event(self, event: events.Event) -> Commands:
        yield from super()._handle_event(event)
        if (
            isinstance(event, events.DataReceived)
            and self.state == self.wait
            and len(self.buf) > self.limits.head_bytes
        ):
            # Requests sent ahead of the answer to this one.
            yield commands.CloseConnection(self.conn)

    def read_headers(self, event: events.ConnectionEvent) -> Commands:
        if isinstance(event, events.DataReceived) and self.buf:
            self.clients.mark(self._client, Phase.HEAD)
        if self._client is not None:
            self._client.request = self._client.body_limit = self._client.refusal = None
            self._client.encode = partial(_encrypted, self.context)
        self._received = 0
        try:
            yield from super().read_headers(event)
        except _HeadTooLarge:
            limits = self.limits
            message = f"A request head has at most {limits.head_bytes} bytes and {limits.head_lines} fields."
            yield from self._refuse(HeadTooLarge(message))

    def read_body(self, event: events.Event) -> Commands:
        if self._client is not None:
            self._client.request = self.request
        self.clients.mark(self._client, Phase.BODY)
        yield from super().read_body(event)

    def _read_parts(self) -> tuple[list[bytes], bool]:
        parts, ended = super()._read_parts()
        self._received += sum(map(len, parts))
        limit = self._client.body_limit if self._client is not None else None
        if self._received > (self.limits.body_bytes if limit is None else limit) and not self._passes_through():
            raise _BodyTooLarge("body too large")
        return parts, ended

    def _passes_through(self) -> bool:
        return self.request is not None and bool(self.request.stream)

    def _unreadable(self, error: h11.ProtocolError) -> Commands:
        if self._answered():
            yield commands.CloseConnection(self.conn)
        elif isinstance(error, _BodyTooLarge):
            yield from self._refuse(TooLarge("The body is larger than the gateway takes."))
        else:
            yield from self._refuse(BadRequest("The request's body could not be read."))
        yield ReceiveHttp(RequestProtocolError(self.stream_id, "unreadable body", ErrorCode.GENERIC_CLIENT_ERROR))

    def _answered(self) -> bool:
        """Whether the response has begun; `100 Continue` only comes before it."""
        return self.response is not None and self.response.status_code != 100

    def _refuse(self, error: GatewayError) -> Commands:
        self.refusals.count()
        yield from self._close_with(error_page(error))

    def _close_with(self, response: bytes) -> Commands:
        """Sends the last response. Closed at once, with bytes unread, the client's kernel could drop it."""
        yield commands.SendData(self.conn, response)
        if self._client is not None:
            self._client.encode = None
        if not self.conn.tls and sum(isinstance(each, http_layers.HttpLayer) for each in self.context.layers) == 1:
            # Under TLS or in a tunnel there is no half of a connection to close: the client, or the sweep, closes all.
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
            # The last response is sent, and the connection ends when the client does.
            return
        refused = isinstance(event, ResponseProtocolError) and not self._answered()
        if not refused or not self.conn.state & ConnectionState.CAN_WRITE:
            yield from super().send(event)
            if self._client is not None and self._answered():
                self._client.encode = None
            return
        assert isinstance(event, ResponseProtocolError)
        status = event.code.http_status_code()
        prepared = self._client.refusal if self._client is not None and event.code is ErrorCode.KILL else None
        if prepared is not None:
            yield from self._close_with(prepared)
        elif status is not None and not self.request_done:
            yield from self._close_with(_http1.make_error_response(status, event.message))
        else:
            yield from super().send(event)

    def mark_done(self, *, request: bool = False, response: bool = False) -> Commands:
        if request:
            self.clients.mark(self._client, Phase.BUSY)
        yield from super().mark_done(request=request, response=response)
        if self.state == self.read_headers and not self.buf:
            self.clients.mark(self._client, Phase.IDLE)


class BoundedClient(_Bounded, _http1.Http1Client):
    """Reads from upstreams."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.buf = BoundedBuffer(self.limits)

    def read_headers(self, event: events.ConnectionEvent) -> Commands:
        try:
            yield from super().read_headers(event)
        except _HeadTooLarge as error:
            yield from self._unreadable(error)

    def _unreadable(self, error: h11.ProtocolError) -> Commands:
        assert self.stream_id is not None
        yield commands.CloseConnection(self.conn)
        # Known by its beginning to `addons/upstream_faults.py`.
        yield ReceiveHttp(
            ResponseProtocolError(
                self.stream_id, "HTTP/1 protocol error: beyond the limits", ErrorCode.GENERIC_SERVER_ERROR
            )
        )


class _Closed(layer.Layer):
    """Ends a connection that does not say what it speaks."""

    def _handle_event(self, event: events.Event) -> Commands:
        yield commands.CloseConnection(self.context.client)


class PrefaceLimit:
    """The addon: bounds what a client sends before mitmproxy knows its protocol, and how long that takes."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def next_layer(self, data: layer.NextLayer) -> None:
        if data.layer is not None:
            return
        pieces = [event.data for event in data.events if isinstance(event, events.DataReceived)]
        if len(pieces) > _PREFACE_PIECES or sum(map(len, pieces)) > _PREFACE_BYTES:
            data.layer = _Closed(data.context)
            return
        state = self._clients.of(data.context.client)
        if state is not None and pieces:
            self._clients.mark(state, Phase.HEAD)
            if _starts_like_http(b"".join(pieces)):
                state.encode = partial(_encrypted, data.context)


def _encrypted(context: Context, data: bytes) -> bytes:
    """What a client is to be sent for it to read `data`, through every TLS session it is in."""
    for each in reversed(context.layers):
        if isinstance(each, ClientTLSLayer) and each.tls is not None:
            each.tls.sendall(data)
            data = each.tls.bio_read(_MOST_ENCRYPTED)
    return data


def host_header(context: Context, data_client: bytes, data_server: bytes) -> str | None:
    """The `Host` of a request whose head has begun to arrive; replaces mitmproxy's, which takes cubic time.

    Raises NeedsMoreData until the field, or the end of the head, is there.
    """
    if context.client.transport_protocol != "tcp" or data_server or not _starts_like_http(data_client):
        return None
    for line in _complete_lines(data_client):
        if not line:
            return None
        name, _, value = line.partition(b":")
        if name.lower() == b"host":
            return value.strip().decode("utf-8", "surrogateescape") or None
    raise NeedsMoreData


def _starts_like_http(data: bytes) -> bool:
    return data[:3].isalpha() and b"HTTP/" in data.partition(b"\n")[0]


def _complete_lines(data: bytes) -> Iterator[bytes]:
    *complete, _ = data.split(b"\n")
    yield from (line.removesuffix(b"\r") for line in complete[1:])


def bound_messages(limits: MessageLimits, clients: Clients) -> None:
    """Has every HTTP/1 connection of this process read within the limits."""
    _Bounded.limits = limits
    BoundedServer.clients = clients
    BoundedServer.refusals = RareWarning("refused %d requests whose head or body could not be read")
    replaced: Any = http_layers
    replaced.Http1Server, replaced.Http1Client = BoundedServer, BoundedClient
    finder: Any = NextLayer
    finder._get_host_header = staticmethod(host_header)
