"""A proxy on loopback that opens tunnels, forwards requests in plain HTTP, and records what it was asked for.

Every name under `.test` leads to loopback, so upstreams have names that the gateway cannot resolve, as in a network
whose proxy alone can.
"""

import base64
import contextlib
import re
import select
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import trustme

from tests.e2e.raw import each_connection


@dataclass
class ConnectProxy:
    """The proxy. `answer` replaces its answer to CONNECT; `credentials` are `user:password`, if it requires them."""

    credentials: str = ""
    answer: bytes = b""
    port: int = 0
    asked: list[str] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)

    @contextlib.contextmanager
    def running(self, tls: trustme.CA | None = None) -> Iterator["ConnectProxy"]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
        if tls and context:
            tls.issue_cert("localhost", "127.0.0.1").configure_cert(context)

        def serve(connection: socket.socket) -> None:
            if context is None:
                self._serve(connection)
            else:
                with context.wrap_socket(connection, server_side=True) as secure:
                    self._serve(secure)

        with each_connection(serve) as self.port:
            yield self

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            data = client.recv(65536)
            if not data:
                return
            head += data
        self.heads.append(head)
        method, place, _ = head.split(b"\r\n")[0].decode().split(" ")
        self.asked.append(f"{method} {place}")
        wanted = b"proxy-authorization: basic " + base64.b64encode(self.credentials.encode())
        if self.answer:
            # A connection that is closed with bytes unread is reset, and the answer may be lost with it.
            length = re.search(rb"(?i)content-length: *([0-9]+)", head)
            left = int(length[1]) - len(head.partition(b"\r\n\r\n")[2]) if length else 0
            while left > 0 and (data := client.recv(65536)):
                left -= len(data)
            client.sendall(self.answer)
            return
        if self.credentials and wanted.lower() not in head.lower():
            client.sendall(b"HTTP/1.1 407 Canary of the proxy\r\nContent-Length: 6\r\n\r\ncanary")
            return
        if method != "CONNECT":
            self._forward(client, head)
            return
        with _reached(place) as far:
            # In one piece with what the host says first, as it may arrive.
            far.settimeout(0.05)
            with contextlib.suppress(TimeoutError):
                first = far.recv(65536)
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n" + first)
                _relay(client, far)
                return
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            _relay(client, far)

    def _forward(self, client: socket.socket, head: bytes) -> None:
        """Sends a request in absolute form on, without the credentials, and passes on what comes back."""
        method, target, version = head.split(b"\r\n")[0].split(b" ")
        parts = urlsplit(target.decode())
        _, _, rest = head.partition(b"\r\n")
        kept = [line for line in rest.split(b"\r\n") if not line.lower().startswith(b"proxy-authorization:")]
        with _reached(f"{parts.hostname}:{parts.port or 80}") as far:
            path = target.partition(b"://")[2].partition(b"/")[2]
            far.sendall(b"\r\n".join([b"%s /%s %s" % (method, path, version), b"Connection: close", *kept]))
            _relay(client, far)


def _reached(place: str) -> socket.socket:
    host, _, port = place.rpartition(":")
    return socket.create_connection(("127.0.0.1" if host.endswith(".test") else host, int(port)), timeout=20)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Passes bytes on in both directions until one side closes, in one thread: two may not share a TLS connection."""
    to = {one: other, other: one}
    with contextlib.suppress(OSError):
        while True:
            read = [each for each in to if isinstance(each, ssl.SSLSocket) and each.pending()]
            for source in read or select.select([*to], [], [], 60)[0]:
                data = source.recv(65536)
                if not data:
                    return
                to[source].sendall(data)
