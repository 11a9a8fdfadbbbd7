"""Orders in an answer, addressed to whoever acts on it: give away what a placeholder hides, or send it somewhere.

A model's text is read by people, but also by agents that do what it says; an injected document speaks to them so.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from gateway.guard import instruction_patterns as phrases
from gateway.guard.context import Hit, Source
from gateway.guard.instruction_patterns import Order
from gateway.guard.part_views import Reading
from gateway.guard.regex_search import expression, matches
from gateway.guard.untrusted_destinations import PHONE, UntrustedDestinations
from gateway.guard.verdict import Kind, Severity
from gateway.placeholders import Found


class _Wording:
    """The ways to word orders of one kind.

    Where one could begin is looked for first, in one pass: a verb that is first in its sentence, or behind "please",
    "now", "you must". "To print it" orders nothing.
    """

    def __init__(self, kind: Kind, orders: Sequence[Order]) -> None:
        self.kind = kind
        verbs = "|".join(order.verb for order in orders)
        self._verb = expression(f"{phrases.LEAD}({verbs})\\b")
        # One expression of all; the group of a target is named anew in each.
        rests = [order.verb + order.rest.replace("<target>", f"<target{index}>") for index, order in enumerate(orders)]
        self._whole = re.compile("|".join(rests), re.IGNORECASE)

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """The orders in a text whose placeholders are masked."""
        for start, (said, verb) in matches(self._verb, text):
            match = self._whole.match(text, start + len(said or "") - len(verb or ""))
            if match:
                yield match


_REVEAL = _Wording(Kind.INSTRUCTION_TO_REVEAL, (*phrases.REVEAL, *phrases.OVERRIDE))
_SEND = _Wording(Kind.INSTRUCTION_TO_SEND, phrases.SEND)
_EXPLAINING = re.compile(phrases.EXPLAINING, re.IGNORECASE)
_NUMBER = re.compile(PHONE)
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|«[^»\n]{0,300}»|`[^`\n]{0,300}`"
    r"|(?<!\w)'[^'\n]{0,300}'(?!\w)|‘[^’\n]{0,300}’|^[ \t]*>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_BORDER = re.compile(r"[.!?](?=\s|$)|\n")


def orders(reading: Reading, found: Sequence[Found], source: Source, untrusted: UntrustedDestinations) -> Iterator[Hit]:
    """Instructions in words to reveal or to send. `found` are the session's placeholders in the text."""
    masked = _masked(reading.text, found)
    surroundings = _Surroundings(reading.text)
    for wording in (_REVEAL, _SEND) if reading.names_a_place else (_REVEAL,):
        for match in wording.found(masked):
            if not _is_harmless(match, surroundings, source, untrusted):
                yield Hit(wording.kind, *surroundings.sentence(*match.span()), Severity.HIGH)


def _masked(text: str, found: Sequence[Found]) -> str:
    """The text with every placeholder as a run of one character that nobody writes, offsets unchanged."""
    parts: list[str] = []
    position = 0
    for hit in found:
        parts += (text[position : hit.start], phrases.TAG[0] * (hit.end - hit.start))
        position = hit.end
    parts.append(text[position:])
    return "".join(parts)


def _is_harmless(
    match: re.Match[str], surroundings: "_Surroundings", source: Source, untrusted: UntrustedDestinations
) -> bool:
    """Said in the request already, quoted to explain it, or sending to somebody whom the request named."""
    target = next((value for value in match.groupdict().values() if value), None)
    if target is not None and not _is_untrusted(target, untrusted):
        return True
    start, end = match.span()
    return surroundings.only_mentions(start) or source.holds_loosely(surroundings.text[start:end])


def _is_untrusted(target: str, untrusted: UntrustedDestinations) -> bool:
    address = target.rstrip(").,;:!?*`\"'")
    if address.startswith("@"):
        return untrusted.handle(address)
    if "//" in address:
        return untrusted.url(address)
    if "@" in address:
        return untrusted.mailbox(address)
    return untrusted.whole(address) or (_NUMBER.fullmatch(address) is not None and untrusted.number(address))


class _Surroundings:
    """What stands around an order, looked at once a text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        return [match.span() for match in _QUOTED.finditer(self.text)]

    @cached_property
    def _borders(self) -> list[int]:
        return [0, *(match.end() for match in _BORDER.finditer(self.text)), len(self.text)]

    @cached_property
    def _explains(self) -> bool:
        return _EXPLAINING.search(self.text) is not None

    def only_mentions(self, at: int) -> bool:
        """Whether words are quoted in a text about such words: an explanation of the attack, not the attack."""
        index = bisect_right(self._quoted, (at, 0)) - 1
        return index >= 0 and at < self._quoted[index][1] and self._explains

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """The sentence or sentences around a stretch, without white space at the ends."""
        first = self._borders[bisect_right(self._borders, start) - 1]
        last = self._borders[min(bisect_left(self._borders, end), len(self._borders) - 1)]
        piece = self.text[first:last]
        return first + len(piece) - len(piece.lstrip()), last - (len(piece) - len(piece.rstrip()))
