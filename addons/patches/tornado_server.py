"""The server of mitmweb and of the operations listener: with the certificate of the settings, if any, and with bounds.

Upstream would have to make mitmweb's server with options for both, and tornado to bound the time of a head.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from time import monotonic
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.iostream import IOStream, UnsatisfiableReadError
from tornado.log import gen_log

from addons.certificate_files import CertificateFiles
from addons.logs import RareWarnings
from addons.mitm_errors import plain_http_answer
from gateway.ids import new_request_id

CHECKED_WITH = "12.2.3"

# As mitmweb has it, for the files of flows that operators open.
_BUFFER_BYTES = 2**32
_PIECE = 64 * 1024
_WARNING_SECONDS = 60.0
_SWEEP_SECONDS = 1.0
# Why TLS fails, by a part of OpenSSL's reason.
_TLS_CAUSES = {
    "UNKNOWN_CA": "the client does not trust the certificate",
    "CERTIFICATE": "the client does not trust the certificate",
    "PROTOCOL": "the client offers no TLS version that the listener accepts",
    "VERSION": "the client offers no TLS version that the listener accepts",
    "CIPHER": "the client offers no cipher that the listener accepts",
    "ALERT": "the client sent an alert",
}


class _Stage(Enum):
    IDLE = auto()
    HEAD = auto()
    BODY = auto()
    ANSWER = auto()


@dataclass(eq=False)
class _Client:
    """A connection. The first head is due as soon as it is open, handshake included."""

    close: Callable[[], object]
    stage: _Stage = _Stage.HEAD
    since: float = field(default_factory=monotonic)
    is_new: bool = True

    def enter(self, stage: _Stage) -> None:
        self.stage, self.since = stage, monotonic()


class _Noted(HTTPMessageDelegate):
    """Notes how much of a request has arrived."""

    def __init__(self, inner: HTTPMessageDelegate, client: _Client) -> None:
        self._client = client
        self._inner = inner
        self.data_received = inner.data_received  # type: ignore[method-assign]
        self.on_connection_close = inner.on_connection_close  # type: ignore[method-assign]

    def headers_received(self, start_line: Any, headers: Any) -> Any:
        # It still waits since the time at which the head began.
        self._client.stage = _Stage.BODY
        return self._inner.headers_received(start_line, headers)

    def finish(self) -> None:
        self._client.enter(_Stage.ANSWER)
        self._inner.finish()


class TornadoServer(HTTPServer):
    """Beyond `most_connections`, closes the one that has waited longest for its request. Made by `make_server`."""

    name: str
    certificates: CertificateFiles | None
    head_seconds: float
    idle_seconds: float
    most_connections: int
    # By stream, or by socket before the first byte of a handshake.
    clients: dict[object, _Client]
    warnings: RareWarnings
    beginning: _Client | None = None
    sweeping: asyncio.Task[None] | None = None

    def stop(self) -> None:
        super().stop()
        if self.sweeping is not None:
            self.sweeping.cancel()

    def handle_stream(self, stream: IOStream, address: Any) -> None:
        client, self.beginning = self.beginning or _Client(stream.close), None
        client.close = stream.close
        self.clients[stream] = client
        super().handle_stream(stream, address)

    def start_request(self, server_conn: Any, request_conn: Any) -> HTTPMessageDelegate:
        client = self.clients.get(server_conn.stream) or _Client(server_conn.stream.close)
        if not client.is_new:
            client.enter(_Stage.IDLE)
        client.is_new = False
        return _Noted(super().start_request(server_conn, request_conn), client)

    def on_close(self, server_conn: Any) -> None:
        self.clients.pop(server_conn.stream, None)
        error = server_conn.stream.error
        if isinstance(error, UnsatisfiableReadError):
            self._count("closed connections whose request has too long a head")
        elif isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            reason = error.reason or ""
            cause = next((words for part, words in _TLS_CAUSES.items() if part in reason), "the data is not valid TLS")
            self._count(f"closed connections whose TLS failed, because {cause}")
        super().on_close(server_conn)

    def _handle_connection(self, connection: socket.socket, address: Any) -> None:
        loop = asyncio.get_running_loop()
        self.sweeping = self.sweeping or loop.create_task(self._sweep())
        if len(self.clients) >= self.most_connections:
            self._make_room()
        if self.certificates is None:
            super()._handle_connection(connection, address)
            return
        # Connections that are open keep a certificate that was replaced.
        self.ssl_options = self.certificates.context
        client = _Client(connection.close)
        self.clients[connection] = client
        task = loop.create_task(self._begin(connection, address, client))
        client.close = task.cancel
        task.add_done_callback(lambda _: self.clients.pop(connection, None))

    async def _begin(self, connection: socket.socket, address: Any, client: _Client) -> None:
        """Begins the handshake, or refuses plain HTTP."""
        start = b""
        connection.setblocking(False)
        try:
            with suppress(OSError):
                start = await _first_bytes(connection)
        except asyncio.CancelledError:
            connection.close()
            raise
        if start[:1] == b"\x16":
            self.beginning = client
            try:
                super()._handle_connection(connection, address)
            except OSError:
                connection.close()
            finally:
                self.beginning = None
            return
        with connection, suppress(OSError):
            if start:
                connection.send(plain_http_answer(start, new_request_id()))
                connection.shutdown(socket.SHUT_WR)
                # Closing with unread data would reset the connection, and could lose the answer.
                while connection.recv(_PIECE):
                    pass

    def _make_room(self) -> None:
        """Closes the connection that has waited longest for its request, or else for its answer to be read."""
        key, client = min(self.clients.items(), key=lambda each: (each[1].stage is _Stage.ANSWER, each[1].since))
        self._close(key, client)
        self._count(f"closed connections to make room for new ones, beyond {self.most_connections}")

    def _close(self, key: object, client: _Client) -> None:
        self.clients.pop(key, None)
        client.close()

    def _count(self, words: str) -> None:
        self.warnings.count(f"{self.name}: {words}")

    async def _sweep(self) -> None:
        try:
            while True:
                await asyncio.sleep(min(_SWEEP_SECONDS, self.head_seconds / 4))
                self._close_late()
                self.warnings.flush()
        finally:
            self.warnings.flush(at_once=True)

    def _close_late(self) -> None:
        for key, client in [*self.clients.items()]:
            has_begun = isinstance(key, IOStream) and bool(key._read_buffer_size or getattr(key, "_ssl_accepting", 0))
            if client.stage is _Stage.IDLE and has_begun:
                client.enter(_Stage.HEAD)
            seconds = {_Stage.HEAD: self.head_seconds, _Stage.IDLE: self.idle_seconds}.get(client.stage)
            if seconds is not None and monotonic() - client.since > seconds:
                self._close(key, client)
                if has_begun:
                    self._count("closed connections whose request did not arrive in time")


async def _first_bytes(connection: socket.socket) -> bytes:
    """Waits for the first bytes of a client, and leaves them to be read. Raises OSError."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection.fileno(), arrived.set)
    try:
        await arrived.wait()
        return connection.recv(_PIECE, socket.MSG_PEEK)
    finally:
        loop.remove_reader(connection.fileno())


def make_server(
    app: Callable[[HTTPServerRequest], object],
    certificates: CertificateFiles | None,
    *,
    name: str,
    most_connections: int,
    head_seconds: float,
    idle_seconds: float,
    body_bytes: int = _BUFFER_BYTES,
) -> TornadoServer:
    """Returns the server, whose `name` is for the log.

    A client has `head_seconds` for each head, a handshake before it included, and `idle_seconds` for a body and between
    two requests.
    """
    # Closes with an error in the log if the buffer is full, and without one if the head is too long.
    made = TornadoServer(app, max_buffer_size=body_bytes + _PIECE, max_body_size=body_bytes, body_timeout=idle_seconds)
    made.name, made.certificates, made.most_connections = name, certificates, most_connections
    made.head_seconds, made.idle_seconds = head_seconds, idle_seconds
    made.clients, made.warnings = {}, RareWarnings(_WARNING_SECONDS)
    gen_log.addFilter(_is_worth_a_line)
    return made


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Leaves out what `on_close` counts: any client could fill the log with it."""
    return not (record.module == "iostream" and record.funcName in {"_do_ssl_handshake", "_handle_read"})
