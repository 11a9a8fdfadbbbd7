"""Which headers and query may cross together with a protected body.

A header is text like any other: what a recognizer finds private in one, after its name, keeps the header back, and so
does a value that is hidden in the body. Headers that describe the connection, the client's place in the network or who
is behind it, as a proxy that logs people in adds them, never cross.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from gateway.errors import NotFound
from gateway.http.types import Field
from gateway.models import PrivacyMode
from gateway.policy import Policy
from gateway.protection.protector import Protector
from gateway.text.fields import TextField, lead

# RFC 9110 section 7.6.1 (hop by hop), what is written anew, and what tells where the client comes from.
_NEVER = frozenset(
    b"""
    connection keep-alive proxy-connection te trailer transfer-encoding upgrade
    proxy-authenticate proxy-authorization proxy-authentication-info
    content-length content-type content-encoding accept-encoding expect via from referer origin
    cookie2 sec-websocket-key sec-websocket-version sec-websocket-protocol sec-websocket-extensions
    """.split()
)
# Whose name says that it tells who or where somebody is, or opens something; except what programs are called.
_TELLING = re.compile(
    rb"(?:^|[-_])(?:users?|username|uid|e?mail|login|principal|subject|identity|sessions?|token|jwt|oidc|saml|iap|auth"
    rb"|password|passwd|secret|csrf|xsrf|cert|certificate|host|hostname|device|imei|geo|location|lat|lon|latitude"
    rb"|longitude|groups?|roles?|customer|employee|client-dn|forwarded|original|envoy|ssl|amzn|ip|country|city)(?:[-_]|$)"
)
_PROGRAM = frozenset({b"user-agent", b"x-goog-user-project"})
# What clients of providers send: their names are no labels of what stands behind.
_OF_CLIENTS = (b"accept", b"user-agent", b"openai-", b"anthropic-", b"x-stainless-", b"x-goog-", b"cache-", b"pragma")
_SHORTEST_VALUE = 4
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


def forwarded_headers(
    envelope: Envelope,
    protector: Protector,
    policy: Policy,
    mode: PrivacyMode = PrivacyMode.STANDARD,
    hidden: Iterable[str] = (),
    *,
    remember_for: str | None = None,
) -> list[Field]:
    """The header fields that cross with a body in which the values `hidden` were hidden.

    Raises NotFound (`unknown_route`) for a query with private text.
    """
    if not clean(envelope.query, protector, policy, remember_for=remember_for):
        raise NotFound("The query of the request holds private text, which cannot cross.", code="unknown_route")
    candidates = [(name, value) for name, value in envelope.fields if _may_cross(name.lower())]
    block = [_text_field(name.lower(), value.decode("latin-1")) for name, value in candidates]
    found = protector.find([block], policy, mode, remember_for=remember_for)[0]
    values = [value.lower() for value in hidden if len(value) >= _SHORTEST_VALUE]
    crossing = [
        field
        for field, text_field, spans in zip(candidates, block, found.spans, strict=True)
        if not spans and not _holds(text_field.texts[0], values)
    ]
    crossing += [(b"content-type", b"application/json"), (b"accept-encoding", b"identity")]
    if envelope.credential is not None:
        crossing.append((b"authorization", b"Bearer " + envelope.credential.encode("latin-1")))
    else:
        crossing += [(name, value) for name, value in envelope.fields if name.lower() in envelope.credentials]
    return crossing


def _may_cross(name: bytes) -> bool:
    if name in _NEVER or name in CREDENTIALS or name.startswith(b"x-svc-"):
        return False
    return name in _PROGRAM or _TELLING.search(name) is None


def _holds(text: str, values: Sequence[str]) -> bool:
    lowered = text.lower()
    return any(value in lowered for value in values)


def _text_field(name: bytes, value: str) -> TextField:
    label = "" if name.startswith(_OF_CLIENTS) else lead(name.removeprefix(b"x-").decode("latin-1").replace("-", " "))
    return TextField(None, None, value, label)


def clean(text: str, protector: Protector, policy: Policy, *, remember_for: str | None = None) -> bool:
    """Whether a query or a name holds nothing the policy hides, in whatever depth of percent-encoding."""
    if not text:
        return True
    forms = [text]
    for _ in range(3):
        forms.append(unquote_plus(forms[-1]))
    block = [TextField(None, None, form) for form in dict.fromkeys(forms)]
    found = protector.find([block], policy, PrivacyMode.STANDARD, remember_for=remember_for)
    return not any(found[0].spans)
