"""Credentials travel to the upstream without ever standing in a flow.

mitmweb, flow dumps and HAR files read `headers.fields`; the HTTP/1 writer of mitmproxy takes `bytes(headers)`. These
headers keep the credentials out of the first and put them into the second. HTTP/2 reads the fields for both, which is
why the gateway speaks HTTP/1.1 only (`addons/options.py`).
"""

from collections.abc import Iterable, Iterator

from mitmproxy import http

CREDENTIAL_HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "x-svc-key",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "x-amz-security-token",
        "ocp-apim-subscription-key",
        "cookie",
        "set-cookie",
    }
)
SCRUBBED = "[credential]"
_SHORTEST_SECRET = 12


class SealedHeaders(http.Headers):
    """Headers with a sealed part that is written to the wire and shown nowhere."""

    def __init__(self, fields: Iterable[tuple[bytes, bytes]] = (), sealed: Iterable[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(fields)
        self._sealed = {name.lower(): (name, value) for name, value in sealed}

    def __bytes__(self) -> bytes:
        visible = [(name, value) for name, value in self.fields if name.lower() not in self._sealed]
        return bytes(http.Headers([*visible, *self._sealed.values()]))


def secrets_of(fields: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """The secrets among header fields, without the word that says what they are (`Bearer`)."""
    for name, value in fields:
        secret = value.rpartition(b" ")[2]
        if name.decode("latin-1").lower() in CREDENTIAL_HEADERS and len(secret) >= _SHORTEST_SECRET:
            yield secret


def scrub(headers: http.Headers) -> http.Headers:
    """The headers as an operator may see them: every credential's value replaced."""
    return http.Headers(
        [
            (name, SCRUBBED.encode() if name.decode("latin-1").lower() in CREDENTIAL_HEADERS else value)
            for name, value in headers.fields
        ]
    )


def seal(headers: http.Headers) -> SealedHeaders:
    """The same headers, credentials shown scrubbed and sent as they are."""
    secret = [(name, value) for name, value in headers.fields if name.decode("latin-1").lower() in CREDENTIAL_HEADERS]
    return SealedHeaders(scrub(headers).fields, secret)
