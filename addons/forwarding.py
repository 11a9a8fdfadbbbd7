"""Sets the destination of a flow in one step; mitmproxy's own properties scan the headers on each assignment."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from mitmproxy import http

from addons.credentials import SealedHeaders
from gateway.config.listener_addresses import in_url
from gateway.http.types import Field

_PORTS = {"http": 80, "https": 443}


def send_to(request: http.Request, url: str, fields: Iterable[Field], body: bytes) -> None:
    """Sets destination, body and header fields of a request, and adds `Host` and `Content-Length` (RFC 9112).

    `url` is an absolute http or https URL without user information. Credentials among `fields` are sealed.
    """
    place = urlsplit(url)
    assert place.hostname is not None
    port = place.port or _PORTS[place.scheme]
    host = in_url(place.hostname)
    data = request.data
    data.scheme = place.scheme.encode()
    data.host = place.hostname
    data.port = port
    data.path = f"{place.path or '/'}{'?' + place.query if place.query else ''}".encode("utf-8", "surrogateescape")
    data.authority = b""
    name = host if port == _PORTS[place.scheme] else f"{host}:{port}"
    length = str(len(body)).encode()
    data.headers = SealedHeaders(
        [(b"host", name.encode("ascii" if name.isascii() else "idna")), *fields, (b"content-length", length)]
    )
    data.content = body
    data.trailers = None


def was_sent(request: http.Request) -> bool:
    """Returns whether mitmproxy has written the request to its upstream: it does so once they are connected."""
    return isinstance(request.headers, SealedHeaders) and request.headers.written
