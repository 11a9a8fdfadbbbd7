"""Which headers and query may cross together with a protected body.

A header is text like any other: what a recognizer finds private in one keeps the header back. Headers that describe
the connection or the client's place in the network never cross.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from gateway.errors import NotFound
from gateway.http_types import Field
from gateway.models import PrivacyMode
from gateway.policy import Policy
from gateway.protection import Protector
from gateway.slots import TextSlot

# RFC 9110 section 7.6.1 (hop by hop), what is written anew, and what tells where the client sits.
_NEVER = frozenset(
    b"""
    connection keep-alive proxy-connection te trailer transfer-encoding upgrade
    proxy-authenticate proxy-authorization proxy-authentication-info
    host content-length content-type content-encoding accept-encoding expect via forwarded x-forwarded-for
    x-forwarded-host x-forwarded-proto x-forwarded-port x-real-ip x-client-ip true-client-ip cf-connecting-ip
    from referer origin
    cookie2 sec-websocket-key sec-websocket-version sec-websocket-protocol sec-websocket-extensions
    """.split()
)
CREDENTIALS = frozenset({b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key", b"cookie"})


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a client sent around its body: header fields and the query of its address.

    `credential` replaces the client's own; without it those of the client's that are named in `credentials` cross.
    """

    fields: Sequence[Field] = field(repr=False)
    query: str = field(default="", repr=False)
    credential: str | None = field(default=None, repr=False)
    credentials: frozenset[bytes] = frozenset()


def crossing_headers(envelope: Envelope, protector: Protector, policy: Policy) -> list[Field]:
    """The header fields that cross. Raises NotFound (`unknown_route`) for a query with private text."""
    if not clean(envelope.query, protector, policy):
        raise NotFound("The query of the request holds private text, which cannot cross.", code="unknown_route")
    candidates = [
        (name, value)
        for name, value in envelope.fields
        if name.lower() not in _NEVER and name.lower() not in CREDENTIALS and not name.lower().startswith(b"x-svc-")
    ]
    block = [TextSlot(None, None, value.decode("latin-1")) for _, value in candidates]
    found = protector.find([block], policy, PrivacyMode.STANDARD)[0]
    crossing = [field for field, spans in zip(candidates, found.spans, strict=True) if not spans]
    crossing += [(b"content-type", b"application/json"), (b"accept-encoding", b"identity")]
    if envelope.credential is not None:
        crossing.append((b"authorization", b"Bearer " + envelope.credential.encode("latin-1")))
    else:
        crossing += [(name, value) for name, value in envelope.fields if name.lower() in envelope.credentials]
    return crossing


def clean(text: str, protector: Protector, policy: Policy) -> bool:
    """Whether a query or a name holds nothing the policy hides, in whatever depth of percent-encoding."""
    if not text:
        return True
    forms = [text]
    for _ in range(3):
        forms.append(unquote_plus(forms[-1]))
    block = [TextSlot(None, None, form) for form in dict.fromkeys(forms)]
    return not any(protector.find([block], policy, PrivacyMode.STANDARD)[0].spans)
