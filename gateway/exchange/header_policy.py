"""Decides which headers are forwarded with a protected body, and whether its path and query may be.

A header is forwarded if it is on the list of harmless ones, on the host's or on the operator's, and holds nothing
private: it is searched as the body is, but for UUIDs, and for every value that is hidden in the body. A credential is
forwarded to the upstream it is meant for, provided it looks like one; so are the tokens that a host requires besides.
Private text in the path or query refuses the request, and so do two different credentials, since one may be another
provider's.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_plus

from gateway.corrections.lists import Corrections
from gateway.detection import group_of
from gateway.errors import BadRequest
from gateway.exchange.destination import Destination
from gateway.exchange.leak_search import LeakSearch
from gateway.http.header_names import HARMLESS, NEEDED, ROUTING
from gateway.http.types import Field
from gateway.models import PrivacyMode
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.text.fields import TextField
from gateway.text.leads import lead
from gateway.text.uuids import is_drawn, without_uuids

_SHORTEST_VALUE = 4
# Paths in which nothing is the client's.
_PLAIN_PATHS = frozenset(
    f"{version}/{method}"
    for version in ("", "/v1")
    for method in ("chat/completions", "completions", "embeddings", "messages", "moderations", "responses")
)
_MAX_DECODINGS = 3
# Separates the parts of paths and queries.
_PARTS = re.compile(r"[/&=;]+")
# RFC 9110 section 5.5 allows visible characters and blanks. The next reader may take others for the end of a header.
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
# A token68 (RFC 9110 section 11.2) and the other characters of provider keys, after an optional scheme.
_CREDENTIAL = re.compile(
    rb"(?:(?:bearer|basic|token|key|api-?key) +)?([A-Za-z0-9._~+/:|@-]{1,4096}=*)\Z", re.IGNORECASE
)
# A token that GitHub issues to Copilot in editors, and its members that name an account, an expiry, and from where the
# client signed in. Only the others are searched.
_PAIR = rb"[a-z0-9_-]{1,40}=[a-z0-9._,:/+-]{0,512}"
_PAIRS = re.compile(rb"bearer +((?:%s;)*%s):[0-9a-f]{64}\Z" % (_PAIR, _PAIR), re.IGNORECASE)
_ISSUED = re.compile(
    rb"(?:^|(?<=;))(?:(?:tid|ol)=(?=[\d,]*[a-f])[0-9a-f,]+|exp=\d{10}|ip=[0-9a-f.:]+|asn=as\d+)(?:;|\Z)",
    re.IGNORECASE,
)


def forwardable(fields: Iterable[Field], forward: frozenset[bytes]) -> list[Field]:
    """Returns the header fields that may be forwarded: the harmless ones and those named in `forward`."""
    allowed = HARMLESS | forward
    return [(name, value) for name, value in fields if name.lower() in allowed and _CONTROL.search(value) is None]


@dataclass(frozen=True)
class HeadSearch:
    """Searches the heads of calls under a policy. What the caller `remember_for` sent before is not searched again.

    `patterns` searches paths and credentials, whose words are names of models and deployments, not of people. `denials`
    are what the caller has hidden.
    """

    policy: Policy
    protector: Protector
    patterns: Protector
    remember_for: str | None = None
    denials: Corrections | None = None

    def forwarded_headers(
        self, destination: Destination, hidden: Iterable[str] = (), mode: PrivacyMode = PrivacyMode.STANDARD
    ) -> list[Field]:
        """Returns the header fields to forward with a body in which the values `hidden` were hidden.

        Raises BadRequest for a path or query with private text, for a credential header that holds something else, and
        for credentials that differ.
        """
        values = [value for value in hidden if len(value) >= _SHORTEST_VALUE]
        path = "" if destination.path in _PLAIN_PATHS else destination.path
        for where, text, search in (("path", path, self.patterns), ("query", destination.query, self.protector)):
            if not self.is_clean(text, search, values):
                problem = f"The {where} of the request holds private text, and nothing was sent"
                raise BadRequest(f"{problem}; remove it from the {where}.", param=where)
        sent = self._harmless(destination, values, mode)
        sent += [(b"content-type", b"application/json"), (b"accept-encoding", b"identity")]
        if destination.credential is not None:
            return [*sent, destination.credential]
        return sent + self._credentials(destination) + self._tokens(destination)

    def is_clean(self, text: str, search: Protector, values: Sequence[str] = ()) -> bool:
        """Tells whether a path, query or name holds nothing that the policy hides, in any percent-encoding.

        Searches each part, and the digits of all parts together. It may not hold any of `values` either.
        """
        if not text:
            return True
        forms = [_decoded(text.encode("utf-8", "surrogateescape"))]
        for _ in range(_MAX_DECODINGS):
            forms.append(unquote_plus(forms[-1]))
        # Bytes that are not valid UTF-8 are read as Latin-1, like those that are not encoded.
        forms += [unquote_plus(form, "latin-1") for form in forms if "%" in form]
        parts = [_PARTS.split(form) for form in forms]
        forms += [part for each in parts for part in each]
        # A number may be split over the parts.
        forms += [" ".join(part for part in each if part.isdigit()) for each in parts]
        forms = [form for form in dict.fromkeys(forms) if form]
        block = [TextField(None, None, form) for form in forms]
        found = search.find(
            [block], self.policy, PrivacyMode.STANDARD, remember_for=self.remember_for, corrections=self.denials
        )
        return not any(found[0].spans) and not _contains_any(forms, values)

    def _harmless(self, destination: Destination, values: Sequence[str], mode: PrivacyMode) -> list[Field]:
        """Returns the fields that may be forwarded and hold nothing private. Raises BadRequest without a needed one."""
        own = destination.required.names
        candidates = forwardable(destination.fields, destination.forward | own)
        block = [_text_field(name.lower(), value, own) for name, value in candidates]
        found = self.protector.find(
            [block], self.policy, mode, remember_for=self.remember_for, corrections=self.denials
        )[0]
        # Agents have the ids of their sessions in the body as well, after words that tell detection to hide them.
        routed = ROUTING | own
        decoded = [(name.lower() in routed, _decoded(value)) for name, value in candidates]
        texts = [without_uuids(text) if is_routed else text for is_routed, text in decoded]
        is_quoting = _contains_any(texts, values, self.remember_for)
        sent = [
            field
            for field, text, spans in zip(candidates, texts, found.spans, strict=True)
            if not spans and not (is_quoting and _contains_any([text], values))
        ]
        if left_out := NEEDED & ({name.lower() for name, _ in candidates} - {name.lower() for name, _ in sent}):
            where = min(left_out).decode()
            raise BadRequest(f"The header `{where}` holds private text, and nothing was sent.", param=where)
        return sent

    def _credentials(self, destination: Destination) -> list[Field]:
        """Returns the client's credentials for a destination. Raises BadRequest unless they are that, and the same."""
        given = [(name, value) for name, value in destination.fields if name.lower() in destination.credentials]
        if len({value.strip().rpartition(b" ")[2] for _, value in given}) > 1:
            raise BadRequest("Two different credentials were sent; send only the one that the provider reads.")
        for name, value in given:
            if not self._is_credential(value, destination.required.pairs):
                shown = name.lower().decode("ascii")
                message = f"The header `{shown}` holds something other than a credential; send the credential alone."
                raise BadRequest(message, param=shown)
        return given

    def _tokens(self, destination: Destination) -> list[Field]:
        """Returns what the host requires besides the credential: one field of each name, with a token and no more."""
        given = {name.lower(): (name, value) for name, value in destination.fields}
        sent = [given[name] for name in sorted(destination.required.tokens & given.keys())]
        return [(name, value) for name, value in sent if is_drawn(_decoded(value)) or self._is_credential(value)]

    def _is_credential(self, value: bytes, pairs: bool = False) -> bool:
        match = _CREDENTIAL.match(value.strip()) or (_PAIRS.match(value.strip()) if pairs else None)
        if match is None:
            return False
        block = [TextField(None, None, _ISSUED.sub(b"", match[1]).decode("ascii"))]
        found = self.patterns.find([block], self.policy, PrivacyMode.STANDARD, block=False)[0]
        return all(group_of(span.type, self.patterns.types) == "secret" for span in found.spans[0])


def _contains_any(texts: Sequence[str], values: Sequence[str], remember_for: str | None = None) -> bool:
    """Tells whether the texts hold any of the values, in any spelling."""
    if not values or not texts:
        return False
    search = LeakSearch(texts) if remember_for is None else _remembered(remember_for, tuple(texts))
    lowered = "\n".join(texts).lower()
    return any(value.lower() in lowered or search.holds(value) for value in values)


@lru_cache(maxsize=64)
def _remembered(_caller: str, texts: tuple[str, ...]) -> LeakSearch:
    """Returns a search of headers, which a client repeats with every request."""
    return LeakSearch(texts)


def _text_field(name: bytes, value: bytes, own: frozenset[bytes]) -> TextField:
    text = without_uuids(_decoded(value))
    # The names of harmless headers and of those `own` to the host say nothing about their values.
    label = "" if name in HARMLESS | own else lead(name.removeprefix(b"x-").decode("latin-1").replace("-", " "))
    return TextField(None, None, text, label)


def _decoded(value: bytes) -> str:
    """Reads bytes of a head: as UTF-8, or else as Latin-1 (RFC 9110 section 5.5)."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
