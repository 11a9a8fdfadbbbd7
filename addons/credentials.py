"""Sends credentials to the upstream without showing them in the flow.

mitmweb, flow dumps and HAR files read `headers.fields`; mitmproxy's HTTP/1 writer uses `bytes(headers)`. Sealed headers
leave the credentials out of the former and put them into the latter. mitmproxy's HTTP/2 code reads the fields for both,
which is why the gateway speaks HTTP/1.1 only (`addons/options.py`).
"""

from collections.abc import Iterable, Sequence

from mitmproxy import http

from gateway.auth.credentials import CREDENTIAL_HEADERS, SCRUBBED, scrub_fields, scrub_secrets
from gateway.auth.query_key import take_keys
from gateway.http.header_names import HOP_BY_HOP, TOKENS
from gateway.http.types import Field

_SEALED = CREDENTIAL_HEADERS | TOKENS
# mitmproxy needs the first to frame the body, the others to answer upgrades.
_MESSAGE_HEADERS = frozenset({b"transfer-encoding", b"connection", b"upgrade"})


class SealedHeaders(http.Headers):
    """Headers whose credentials are sent but never shown. `written` tells whether they were sent."""

    def __init__(self, fields: Iterable[Field] = ()) -> None:
        self.written = False
        every = list(fields)
        super().__init__(_scrubbed(every))
        self._sealed = [(name, value) for name, value in every if name.lower() in _SEALED]

    @property
    def sealed(self) -> Sequence[Field]:
        """The credentials."""
        return self._sealed

    def __bytes__(self) -> bytes:
        self.written = True
        if not self._sealed:
            return super().__bytes__()
        visible = [(name, value) for name, value in self.fields if name.lower() not in _SEALED]
        return bytes(http.Headers([*visible, *self._sealed]))


def take_query_key(request: http.Request) -> list[bytes]:
    """Removes the parameter `key` from the query of a request, and returns its values."""
    path, _, query = request.path.partition("?")
    rest, keys = take_keys(query)
    if keys:
        request.path = f"{path}?{rest}" if rest else path
    return keys


def scrub(headers: http.Headers) -> http.Headers:
    """Returns the headers with the value of every credential replaced, as operators see them."""
    return http.Headers(_scrubbed(headers.fields))


def seal(headers: http.Headers) -> SealedHeaders:
    """Returns the same headers; their credentials are sent unchanged and shown scrubbed."""
    return SealedHeaders(headers.fields)


def scrub_answer(response: http.Response, secrets: frozenset[bytes]) -> None:
    """Removes secrets from the head of a response: some upstreams quote the key they reject."""
    response.headers = http.Headers(scrub_fields(response.headers.fields, secrets))
    response.data.reason = scrub_secrets(response.data.reason, secrets)
    response.data.trailers = None


def without_proxy_headers(headers: http.Headers) -> http.Headers:
    """Returns the headers for a host that is not intercepted, without those meant for this proxy."""
    named = {name.strip().lower() for name in headers.get("connection", "").encode().split(b",")}
    removed = (HOP_BY_HOP | named) - _MESSAGE_HEADERS
    return http.Headers(
        [
            (name, value)
            for name, value in headers.fields
            if name.lower() not in removed and not name.lower().startswith(b"x-svc-")
        ]
    )


def _scrubbed(fields: Iterable[Field]) -> list[Field]:
    return [(name, SCRUBBED if name.lower() in _SEALED else value) for name, value in fields]
