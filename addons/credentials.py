"""Credentials travel to the upstream without ever standing in a flow.

mitmweb, flow dumps and HAR files read `headers.fields`; the HTTP/1 writer of mitmproxy takes `bytes(headers)`. These
headers keep the credentials out of the first and put them into the second. HTTP/2 reads the fields for both, which is
why the gateway speaks HTTP/1.1 only (`addons/options.py`).
"""

from collections.abc import Iterable, Iterator

from mitmproxy import http

from gateway.http.types import Field

CREDENTIAL_HEADERS = frozenset(
    {
        b"authorization",
        b"proxy-authorization",
        b"x-svc-key",
        b"x-api-key",
        b"api-key",
        b"x-goog-api-key",
        b"x-amz-security-token",
        b"ocp-apim-subscription-key",
        b"cookie",
        b"set-cookie",
    }
)
SCRUBBED = b"[credential]"
_SHORTEST_SECRET = 12


class SealedHeaders(http.Headers):
    """Headers whose credentials are written to the wire and shown nowhere."""

    def __init__(self, fields: Iterable[Field] = ()) -> None:
        every = list(fields)
        super().__init__(_scrubbed(every))
        self._sealed = [(name, value) for name, value in every if name.lower() in CREDENTIAL_HEADERS]

    def __bytes__(self) -> bytes:
        if not self._sealed:
            return super().__bytes__()
        visible = [(name, value) for name, value in self.fields if name.lower() not in CREDENTIAL_HEADERS]
        return bytes(http.Headers([*visible, *self._sealed]))


def secrets_of(fields: Iterable[Field]) -> Iterator[bytes]:
    """The secrets among header fields, without the word that says what they are (`Bearer`)."""
    for name, value in fields:
        secret = value.rpartition(b" ")[2]
        if name.lower() in CREDENTIAL_HEADERS and len(secret) >= _SHORTEST_SECRET:
            yield secret


def scrub(headers: http.Headers) -> http.Headers:
    """The headers as an operator may see them: every credential's value replaced."""
    return http.Headers(_scrubbed(headers.fields))


def seal(headers: http.Headers) -> SealedHeaders:
    """The same headers, credentials shown scrubbed and sent as they are."""
    return SealedHeaders(headers.fields)


def _scrubbed(fields: Iterable[Field]) -> list[Field]:
    return [(name, SCRUBBED if name.lower() in CREDENTIAL_HEADERS else value) for name, value in fields]
