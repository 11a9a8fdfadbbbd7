"""The handshakes of a WebSocket with the client and with the upstream (RFC 6455 section 4).

Each is the gateway's own: neither peer sees the other's key, subprotocols or extensions, so nothing is compressed.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass, field
from hashlib import sha1
from os import urandom

from mitmproxy import http

from gateway.errors import BadRequest, BadUpstream, UpgradeRefused

PREFIX = "sec-websocket-"

_VERSION = "13"
# RFC 6455 section 1.3.
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
# How servers answer that serve no WebSocket at this path. Clients fall back to HTTP after 426 only.
_NO_SOCKET = frozenset({200, 400, 404, 405, 426, 501})
_TOKENS = re.compile(r"[\s,]+")


@dataclass(slots=True)
class Handshake:
    """The two handshakes of a connection: `key` is the client's, `path` what the client asked for."""

    key: bytes = field(repr=False)
    path: str = field(repr=False)
    target: tuple[str, int, str]
    own_key: bytes = field(default_factory=lambda: b64encode(urandom(16)), repr=False)

    @classmethod
    def of(cls, request: http.Request, headers: http.Headers, target: tuple[str, int, str]) -> "Handshake | None":
        """Reads that of the client, whose own header fields these are, if the request is one.

        Raises BadRequest if it breaks the rules (RFC 6455 section 4.2.1).
        """
        if request.method != "GET" or "websocket" not in headers.get("upgrade", "").lower():
            # The gateway refuses an upgrade by other methods.
            return None
        key = headers.get("sec-websocket-key", "").encode("utf-8", "surrogateescape")
        is_valid = (
            request.http_version == "HTTP/1.1"
            and "upgrade" in _TOKENS.split(headers.get("connection", "").lower())
            and headers.get("upgrade", "").strip().lower() == "websocket"
            and headers.get("sec-websocket-version") == _VERSION
        )
        try:
            is_valid = is_valid and len(b64decode(key, validate=True)) == 16
        except NotBase64:
            is_valid = False
        if not is_valid:
            raise BadRequest("The WebSocket handshake is not valid (RFC 6455); nothing was sent.", param="Upgrade")
        return cls(key, request.path, target)

    def ask(self, request: http.Request) -> None:
        """Makes a request, which has its destination already, the handshake with the upstream."""
        for name in ("content-type", "content-length", "accept-encoding"):
            request.headers.pop(name, None)
        request.headers["connection"], request.headers["upgrade"] = "Upgrade", "websocket"
        request.headers["sec-websocket-version"] = _VERSION
        request.headers["sec-websocket-key"] = self.own_key.decode()

    def check(self, response: http.Response) -> None:
        """Checks how the upstream answered. Raises UpgradeRefused if it serves no WebSocket, and BadUpstream."""
        if response.status_code in _NO_SOCKET:
            message = "The upstream serves no WebSocket at this path; send the request as an HTTP POST."
            raise UpgradeRefused(message, param="Upgrade")
        if response.status_code != 101:
            return
        headers = response.headers
        has_agreed = (
            headers.get("upgrade", "").strip().lower() == "websocket"
            and headers.get("sec-websocket-accept", "").strip() == _accept(self.own_key)
            and not {"sec-websocket-extensions", "sec-websocket-protocol"} & {name.lower() for name in headers}
        )
        if not has_agreed:
            raise BadUpstream("The upstream's WebSocket handshake is not valid.", code="upstream_invalid")

    def answer(self, response: http.Response) -> None:
        """Makes the upstream's answer the one to the client."""
        for name in [name for name in response.headers if name.lower().startswith(PREFIX)]:
            del response.headers[name]
        response.headers["connection"], response.headers["upgrade"] = "Upgrade", "websocket"
        response.headers["sec-websocket-accept"] = _accept(self.key)


def _accept(key: bytes) -> str:
    return b64encode(sha1(key + _GUID, usedforsecurity=False).digest()).decode()
