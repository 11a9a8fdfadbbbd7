"""Renders a protected message in mitmweb: the notes on top, then its text with the placeholders marked.

The texts of a streamed answer are joined, since events cut words and placeholders into pieces.

Everything shown comes from the forwarded bytes and the receipt. Nothing is restored: the flow does not hold the values.
Rendering happens only when an operator opens the message.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import orjson
from mitmproxy import contentviews, http
from mitmproxy.contentviews import Metadata, SyntaxHighlight

from addons.flow_copies import Notes, metadata_of
from addons.joined_stream import events_of, joined
from gateway.errors import GatewayError
from gateway.http.strict_json import Json, parse
from gateway.placeholders import looks_like_placeholder
from gateway.wires.base import Wires

# Legible in every font.
OWN, FOREIGN = "*", "?"
# In characters.
_WIDTH, _NARROWEST = 68, 40
_PRIORITY = 100
_LABEL = 9


class ProtectedView(contentviews.Contentview):
    """The content view, which mitmproxy selects by its name."""

    def __init__(self) -> None:
        self._wires = Wires.discover()

    @property
    def name(self) -> str:
        return "Protected"

    @property
    def syntax_highlight(self) -> SyntaxHighlight:
        return "yaml"

    def render_priority(self, data: bytes, metadata: Metadata) -> float:
        return _PRIORITY if metadata.flow is not None and metadata_of(metadata.flow) is not None else -1

    def prettify(self, data: bytes, metadata: Metadata) -> str:
        """Renders a message. Raises ValueError for one that the gateway did not handle."""
        notes = metadata_of(metadata.flow) if metadata.flow is not None else None
        if metadata.flow is None or notes is None:
            raise ValueError("this message did not come through the gateway")
        asked = isinstance(metadata.http_message, http.Request)
        head = [f"# {label:<{_LABEL}} {text}" for label, text in _head(data, notes, asked)]
        wire = self._wires.named(notes.wire)
        if not asked and wire is not None and wire.stream is not None and (events := events_of(data)):
            head.append(f"# {'stream':<{_LABEL}} {len(events)} events, whose texts are joined here")
            value: Json = [*joined(events, wire.stream)]
            body = ["---", *_lines(value, frozenset(notes.placeholders))]
        else:
            body = ["---", *_body(data, notes)] if data else []
        title = "HELD BACK: nothing was sent yet" if metadata.flow.intercepted else _title(notes, asked)
        return "\n".join([f"# {title}", *head, *body]) + "\n"


def _head(data: bytes, notes: Notes, asked: bool) -> Iterator[tuple[str, str]]:
    receipt: Mapping[str, Any] = orjson.loads(notes.receipt) if notes.receipt else {}
    if notes.request_id:
        yield "request", notes.request_id
    if receipt:
        policy, counts = receipt["policy"], receipt["entity_counts"]
        yield "receipt", f"{receipt['sequence']}{_digest(data, receipt, notes) if asked else ''}"
        yield "policy", f"{policy['id']}, version {policy['version']}"
        yield "route", f"{receipt['route']}, risk {receipt['risk_level']}"
        listed = ", ".join(f"{name} {number}" for name, number in counts.items())
        yield "hidden", f"{sum(counts.values())}: {listed}" if counts else "nothing was found to hide"
        why = ", ".join(f"{name} {reason} {count}" for name, reason, count in notes.reasons)
        for number, line in enumerate(textwrap.wrap(why, _WIDTH - _LABEL)):
            yield "" if number else "because", line
    if notes.guard is not None:
        found = [(each["kind"], each["severity"], each["count"]) for each in notes.guard["findings"]]
        listed = ", ".join(f"{kind} ({severity}) {count}" for kind, severity, count in found)
        yield "guard", notes.guard["action"] + (f": {listed}" if listed else "")
    if notes.edit:
        yield "edited", f"by {notes.operator or 'an operator'}; its own receipt is {notes.edit}"
    if notes.refusal:
        yield "refused", notes.refusal
    for number, line in enumerate(textwrap.wrap(notes.reason, _WIDTH - _LABEL)):
        yield "" if number else "reason", line
    for place in notes.found:
        yield "found", place


def _title(notes: Notes, asked: bool) -> str:
    if notes.metadata_only:
        return "METADATA ONLY: refused, nothing was sent" if notes.refusal else "METADATA ONLY: answered here"
    if notes.refusal and asked:
        return "REFUSED: nothing was sent"
    return "SENT: the upstream received this" if asked else "RECEIVED: the upstream answered this"


def _digest(data: bytes, receipt: Mapping[str, Any], notes: Notes) -> str:
    if notes.metadata_only or notes.edit or notes.refusal:
        return ""
    if sha256(data).hexdigest() == receipt["protected_digest"]:
        return " (digest matches)"
    return " (DIGEST DIFFERS: these bytes were edited here)"


def _body(data: bytes, notes: Notes) -> list[str]:
    own = frozenset(notes.placeholders)
    try:
        return list(_lines(parse(data), own)) if data else []
    except GatewayError:
        return [_marked(line, own) for line in data.decode("utf-8", "replace").splitlines()]


def _lines(value: Json, own: frozenset[str], indent: str = "") -> Iterator[str]:
    """Renders a JSON value in the style of YAML, long texts as blocks."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _member(f"{indent}{_marked(name, own)}:", inner, own, indent)
    elif isinstance(value, list) and value:
        for inner in value:
            if isinstance(inner, dict | list) and inner:
                first, *rest = _lines(inner, own, indent + "  ")
                yield f"{indent}- {first.lstrip()}"
                yield from rest
            else:
                yield from _member(f"{indent}-", inner, own, indent)
    else:
        yield indent + _scalar(value)


def _member(start: str, value: Json, own: frozenset[str], indent: str) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield start
        yield from _lines(value, own, indent + "  ")
    elif isinstance(value, str) and (len(value) > _WIDTH - 20 or "\n" in value):
        yield f"{start} |"
        yield from (f"{indent}  {line}" for line in _wrapped(_marked(value, own), _WIDTH - len(indent)))
    else:
        yield f"{start} {_marked(_scalar(value), own)}"


def _scalar(value: Json) -> str:
    return orjson.dumps(value).decode() if not isinstance(value, int) else str(value).lower()


def _wrapped(text: str, width: int) -> Sequence[str]:
    width = max(width, _NARROWEST)
    return [
        piece
        for line in text.splitlines() or [""]
        for piece in textwrap.wrap(
            line, width, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
        )
        or [""]
    ]


def _marked(text: str, own: frozenset[str]) -> str:
    parts: list[str] = []
    position = 0
    for found in looks_like_placeholder(text):
        mark = OWN if found.placeholder in own else FOREIGN
        parts += (text[position : found.start], mark, found.placeholder)
        position = found.end
    return "".join([*parts, text[position:]])
