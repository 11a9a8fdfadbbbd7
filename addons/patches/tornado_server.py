"""The server of mitmweb and of the operations listener: with the certificate of the settings, if any, and with bounds.

Upstream would have to make mitmweb's server with options for both.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import tornado.web
from mitmproxy.tools.web.app import AuthRequestHandler
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest

from addons.certificate_files import CertificateFiles
from addons.mitm_errors import plain_http_answer
from gateway.ids import new_request_id

CHECKED_WITH = "12.2.3"

# As mitmweb has it, for the files of flows that operators open.
_BUFFER_BYTES = 2**32
_PIECE = 64 * 1024


class TornadoServer(HTTPServer):
    """Closes connections beyond `most_connections`. Made by `make_server`."""

    certificates: CertificateFiles | None = None
    first_byte_seconds: float = 30
    most_connections: int | None = None
    beginning: set[asyncio.Task[None]]

    def _handle_connection(self, connection: socket.socket, address: Any) -> None:
        if self.most_connections is not None and len(self._connections) + len(self.beginning) >= self.most_connections:
            connection.close()
            return
        if self.certificates is None:
            super()._handle_connection(connection, address)
            return
        # Connections that are open keep a certificate that was replaced.
        self.ssl_options = self.certificates.context
        task = asyncio.get_running_loop().create_task(self._begin(connection, address))
        self.beginning.add(task)
        task.add_done_callback(self.beginning.discard)

    async def _begin(self, connection: socket.socket, address: Any) -> None:
        """Begins the handshake, or refuses plain HTTP."""
        start = b""
        connection.setblocking(False)
        with suppress(OSError):
            async with asyncio.timeout(self.first_byte_seconds):
                start = await _first_bytes(connection)
        if start[:1] == b"\x16":
            super()._handle_connection(connection, address)
            return
        with connection, suppress(OSError):
            if start:
                connection.send(plain_http_answer(start, new_request_id()))
                connection.shutdown(socket.SHUT_WR)
                # Closing with unread data would reset the connection, and could lose the answer.
                while connection.recv(_PIECE):
                    pass


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
    head_seconds: float,
    idle_seconds: float,
    buffer_bytes: int = _BUFFER_BYTES,
    most_connections: int | None = None,
) -> TornadoServer:
    """Returns the server. A client has `head_seconds` for its first byte, and `idle_seconds` for each head or body."""
    # The time of an idle connection includes the handshake.
    made = TornadoServer(
        app, max_buffer_size=buffer_bytes, idle_connection_timeout=idle_seconds, body_timeout=idle_seconds
    )
    made.certificates, made.first_byte_seconds = certificates, head_seconds
    made.most_connections, made.beginning = most_connections, set()
    return made


def mark_cookies() -> None:
    """Has mitmweb's cookies sent over TLS alone if they were set over TLS, in this process."""
    handler: Any = AuthRequestHandler

    def set_cookie(self: tornado.web.RequestHandler, name: str, value: str | bytes, **options: Any) -> None:
        # `secure=False` would add the attribute as well.
        secure: dict[str, Any] = {"secure": True} if self.request.protocol == "https" else {}
        tornado.web.RequestHandler.set_cookie(self, name, value, **secure, **options)

    handler.set_cookie = set_cookie
