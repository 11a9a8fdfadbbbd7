"""Credentials travel to the upstream without ever standing in a flow.

mitmweb, flow dumps and HAR files read `headers.fields`; the HTTP/1 writer of mitmproxy takes `bytes(headers)`. These
headers keep the credentials out of the first and put them into the second. HTTP/2 reads the fields for both, which is
why the gateway speaks HTTP/1.1 only (`addons/options.py`).
"""

from collections.abc import Iterable

from mitmproxy import http

from gateway.auth.credentials import CREDENTIAL_HEADERS, SCRUBBED, scrub_fields, scrub_secrets
from gateway.http.header_names import HOP_BY_HOP
from gateway.http.types import Field

# mitmproxy frames the body by it, and answers to upgrades by the others.
_OF_THE_MESSAGE = frozenset({b"transfer-encoding", b"connection", b"upgrade"})


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


def scrub(headers: http.Headers) -> http.Headers:
    """The headers as an operator may see them: every credential's value replaced."""
    return http.Headers(_scrubbed(headers.fields))


def seal(headers: http.Headers) -> SealedHeaders:
    """The same headers, credentials shown scrubbed and sent as they are."""
    return SealedHeaders(headers.fields)


def scrub_answer(response: http.Response, secrets: frozenset[bytes]) -> None:
    """Removes the secrets from the head of an answer: some upstreams quote the key they refuse."""
    response.headers = http.Headers(scrub_fields(response.headers.fields, secrets))
    response.data.reason = scrub_secrets(response.data.reason, secrets)
    response.data.trailers = None


def for_stranger(headers: http.Headers) -> http.Headers:
    """The headers of a request to a host that is none of ours: without what is meant for this proxy alone."""
    named = {name.strip().lower() for name in headers.get("connection", "").encode().split(b",")}
    gone = (HOP_BY_HOP | named) - _OF_THE_MESSAGE
    return http.Headers(
        [
            (name, value)
            for name, value in headers.fields
            if name.lower() not in gone and not name.lower().startswith(b"x-svc-")
        ]
    )


def _scrubbed(fields: Iterable[Field]) -> list[Field]:
    return [(name, SCRUBBED if name.lower() in CREDENTIAL_HEADERS else value) for name, value in fields]
