"""Finds instructions in an answer to reveal what a placeholder hides, or to send it somewhere.

A model's text is read by people, but also by agents that do what it says; an injected document speaks to them so. The
words and the ways to put them together are in `instructions.toml`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from gateway.guard.context import GuardContext
from gateway.guard.part_views import Reading
from gateway.guard.patterns import Patterns, expression, matches
from gateway.guard.untrusted_destinations import PHONE, UntrustedDestinations
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.placeholders import Found, splice

# Replaces each character of a placeholder: one that nobody writes.
_MASK = "\ue000"
_PATTERNS = Patterns(__file__, tag=f"{_MASK}++", phone=PHONE)


class _Wording:
    """The ways to word instructions of one kind.

    Where one could begin is searched for first, in one pass of RE2: a verb that is first in its sentence, or after
    "please", "now", "you must". "To print it" is no instruction.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        ways = [(_PATTERNS.filled(way["verb"]), _PATTERNS.filled(way["rest"])) for way in _PATTERNS.table[kind]]
        self._verb = expression(f"{_PATTERNS.filled('{begin}')}({'|'.join(verb for verb, _ in ways)})\\b")
        # One expression of all; the group of a target is named anew in each.
        wholes = [verb + rest.replace("<target>", f"<target{index}>") for index, (verb, rest) in enumerate(ways)]
        self._whole = re.compile("|".join(wholes), re.IGNORECASE)

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """The instructions in a text whose placeholders are masked."""
        for start, (said, verb) in matches(self._verb, text):
            match = self._whole.match(text, start + len(said or "") - len(verb or ""))
            if match:
                yield match


_REVEAL, _SEND = _Wording(Kind.INSTRUCTION_TO_REVEAL), _Wording(Kind.INSTRUCTION_TO_SEND)
_EXPLAINING = _PATTERNS.compiled("explaining")
_NUMBER = re.compile(PHONE)
_QUOTED = _PATTERNS.compiled("quoted", re.DOTALL | re.MULTILINE)
_BORDER = re.compile(r"[.!?](?=\s|$)|\n")


def instructions(reading: Reading, found: Sequence[Found], context: GuardContext) -> Iterator[Hit]:
    """Instructions in words to reveal or to send. `found` are the session's placeholders in the text."""
    masked = splice(reading.text, ((hit.start, hit.end, _MASK * (hit.end - hit.start)) for hit in found))
    surroundings = _Surroundings(reading.text)
    for wording in (_REVEAL, _SEND) if reading.names_a_place else (_REVEAL,):
        for match in wording.found(masked):
            target = next((value for value in match.groupdict().values() if value), None)
            if target is not None and not _is_untrusted(target, context.untrusted):
                continue
            if surroundings.only_mentions(match.start()) or context.source.holds_loosely(
                reading.text[slice(*match.span())]
            ):
                continue
            yield Hit(wording.kind, *surroundings.sentence(*match.span()), Severity.HIGH)


def _is_untrusted(target: str, untrusted: UntrustedDestinations) -> bool:
    address = target.rstrip(").,;:!?*`\"'")
    if address.startswith("@"):
        return untrusted.text(address)
    if "//" in address:
        return untrusted.url(address)
    if "@" in address:
        return untrusted.mailbox(address)
    return untrusted.whole(address) or (_NUMBER.fullmatch(address) is not None and untrusted.number(address))


class _Surroundings:
    """What is around an instruction, read once a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        if not _EXPLAINING.search(self._text):
            return []
        return [match.span() for match in _QUOTED.finditer(self._text)]

    @cached_property
    def _borders(self) -> list[int]:
        return [0, *(match.end() for match in _BORDER.finditer(self._text)), len(self._text)]

    def only_mentions(self, at: int) -> bool:
        """Whether words are quoted in a text about such words: an explanation of the attack, not the attack."""
        index = bisect_right(self._quoted, (at, 0)) - 1
        return index >= 0 and at < self._quoted[index][1]

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """The sentence or sentences around a stretch, without white space at the ends."""
        first = self._borders[bisect_right(self._borders, start) - 1]
        last = self._borders[min(bisect_left(self._borders, end), len(self._borders) - 1)]
        piece = self._text[first:last]
        return first + len(piece) - len(piece.lstrip()), last - (len(piece) - len(piece.rstrip()))
