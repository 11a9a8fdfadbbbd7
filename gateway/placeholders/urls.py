"""Where in a text a URL stands, and which URLs may hold a restored value.

An answer can carry an injected link whose query holds a placeholder; restoring it there would hand the value to whoever
owns the link. So a placeholder inside a destination is opened only if the protected source held that very destination.
Destinations are found generously: what is taken for one without need costs a placeholder that stays closed; what is
missed costs a value.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import re2

from gateway.placeholders.grammar import Found, looks_like_placeholder

# A URL ends at white space and at quotes; brackets belong to placeholders and do not end it.
_REST = re.compile(r"[^\s\"'<>`]*+")
_OPTIONS = re2.Options()
_OPTIONS.case_sensitive = False
# Where one may begin. What stands before decides for the schemeless ones whether it does (`_begins`).
_BEGINNING = re2.compile(
    r"[a-z][a-z0-9+.-]*://|//|www\.|(?:[a-z0-9-]+\.){1,8}[a-z]{2,24}(?::[0-9]{1,5})?[/?#]", _OPTIONS
)
_MARKDOWN = re.compile(r"\]\(\s*+(<[^>\n]*+>?|[^)\n]*+)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]++\]:[ \t]*+(\S++)", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"\b(?:src|srcset|href|action|formaction|poster|data|background|cite|ping|content|xlink:href)\s*+=\s*+"
    r"(\"[^\"]*+\"?|'[^']*+'?|[^\s>]++)",
    re.IGNORECASE,
)
_STYLE = re.compile(r"\burl\(\s*+([^)]*+)", re.IGNORECASE)
_HOST_TAIL = re.compile(r"\.(?:[a-z0-9-]++\.)*+[a-z]{2,24}(?:[/:?#]|\b)", re.IGNORECASE)
_SAFE_SCHEME = re.compile(r"(?:mailto|tel|sms):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RestoreScope:
    """Where values may be restored: `urls` is the policy's rule, `source_urls` what the protected source held."""

    urls: Literal["source", "never", "always"]
    source_urls: frozenset[str] = frozenset()


def urls_with_placeholders(text: str) -> frozenset[str]:
    """The destinations of a protected text that hold placeholders, as `withheld` compares them."""
    if "[" not in text:
        return frozenset()
    hits = looks_like_placeholder(text)
    inside = [(destination, held) for destination, held in _destinations(text, hits) if held]
    return frozenset(_canonical(text, destination, held) for destination, held in inside)


def withheld(text: str, hits: Sequence[Found], scope: RestoreScope) -> frozenset[int]:
    """Indexes of the hits that must not be opened where they stand."""
    if scope.urls == "always" or not hits:
        return frozenset()
    closed: set[int] = set()
    for (start, end), held in _destinations(text, hits):
        if not held:
            continue
        allowed = scope.urls == "source" and (
            _is_whole(text, start, end, held) or _canonical(text, (start, end), held) in scope.source_urls
        )
        if not allowed:
            closed.update(index for index, hit in enumerate(hits) if hit in held)
    return frozenset(closed)


def _destinations(text: str, hits: Sequence[Found]) -> list[tuple[tuple[int, int], list[Found]]]:
    """Spans of destinations, each with the hits in it. A hit that a span runs into belongs to it whole."""
    if not hits:
        return []
    spans = list(_plain(text))
    for sign, pattern in (("](", _MARKDOWN), ("]:", _REFERENCE), ("=", _ATTRIBUTE), ("(", _STYLE)):
        if sign in text:
            spans += [_unquoted(text, *match.span(1)) for match in pattern.finditer(text)]
    spans += _hosts(text, hits)
    return [_grown(text, span, hits) for span in spans]


def _plain(text: str) -> Iterator[tuple[int, int]]:
    """URLs as they stand in a text, with a scheme or without."""
    position = 0
    for match in _BEGINNING.finditer(text):
        start, end = match.span()
        if start >= position and _begins(text, start, match[0]):
            position = _REST.match(text, end).end()  # type: ignore[union-attr]
            yield start, position


def _begins(text: str, start: int, sign: str) -> bool:
    before = text[start - 1 : start]
    if "://" in sign or not before:
        return True
    if sign == "//":
        return not (before.isalnum() or before in "_:/")
    return not (before.isalnum() or before in "_@.-")


def _unquoted(text: str, start: int, end: int) -> tuple[int, int]:
    if end - start >= 2 and text[start] + text[end - 1] in {'""', "''", "<>"}:
        return start + 1, end - 1
    return start, end


def _hosts(text: str, hits: Iterable[Found]) -> list[tuple[int, int]]:
    """A placeholder as the first label of a host: `[X].example/…`, `[X].example.com`."""
    found = []
    for hit in hits:
        tail = _HOST_TAIL.match(text, hit.end)
        if tail and (tail[0].count(".") > 1 or tail[0][-1] in "/:?#"):
            found.append((hit.start, tail.end()))
    return found


def _grown(text: str, span: tuple[int, int], hits: Sequence[Found]) -> tuple[tuple[int, int], list[Found]]:
    start, end = span
    held: list[Found] = []
    for hit in hits:
        if hit.end <= start or hit.start > end:
            continue
        if hit.start == end and text[hit.start : hit.start + 1] not in {"<", "`"}:
            continue
        held.append(hit)
        if hit.end > end:
            # The model's own brackets or a space ended the URL too early; it goes on behind the placeholder.
            end = _REST.match(text, hit.end).end()  # type: ignore[union-attr]
    return (start, end), held


def _is_whole(text: str, start: int, end: int, held: Sequence[Found]) -> bool:
    """One placeholder and nothing else, or behind a scheme that sends nothing anywhere by itself."""
    if len(held) != 1:
        return False
    content = text[start:end]
    scheme = _SAFE_SCHEME.match(content)
    first = start + (scheme.end() if scheme else 0)
    return held[0].start <= first and held[0].end >= end


def _canonical(text: str, span: tuple[int, int], held: Sequence[Found]) -> str:
    """The destination with its placeholders in canonical form and without trailing punctuation."""
    parts = []
    position = span[0]
    for hit in held:
        parts += [text[position : hit.start], hit.placeholder]
        position = max(position, hit.end)
    parts.append(text[position : span[1]])
    return "".join(parts).rstrip(").,;:!?*_~|")
