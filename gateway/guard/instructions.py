"""Finds instructions in an answer to reveal what a placeholder hides, or to send it somewhere.

A model's text is read by people, but also by agents that do what it says; an injected document speaks to them so. The
words are in `instructions.toml`.
"""

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from gateway.guard.context import Hit, Source
from gateway.guard.part_views import Reading
from gateway.guard.regex_search import expression, matches
from gateway.guard.untrusted_destinations import PHONE, UntrustedDestinations
from gateway.guard.verdict import Kind, Severity
from gateway.placeholders import Found

_WORDS: dict[str, str] = {
    name: f"(?:{'|'.join(lines.splitlines())})"
    for name, lines in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
# Replaces each character of a placeholder.
_MASK = "\ue000"
_TAG = f"{_MASK}++"
_TARGET = (
    r"(?P<target>(?:https?|ftp|wss?)://[^\s\"'<>`]+|www\.[^\s\"'<>`]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|(?:[a-z0-9-]+\.)+[a-z]{{2,24}}(?:/[^\s\"'<>`]*)?|\d{{1,3}}(?:\.\d{{1,3}}){{3}}[^\s\"'<>`]*|{PHONE}"
    rf"|@[\w.]{{3,32}})"
)
_LEAD = rf"(?:^|[.,!?:;>*\n\"“„«'`(\]-]\s*|\b{_WORDS['leading']}[,:]?\s+)"
# What is given follows the verb, and not a word that makes it the one who gets something.
_GIVEN = (
    rf"\s+(?:(?!{_WORDS['into']}\b)[^\s.!?]+\s+){{0,8}}?[\"'`*(]{{0,2}}(?:{_TAG}(?!['’]s)|{_WORDS['hidden']})"
    r"(?![^.!?\n]{0,40}\b(?:link|lien|enlace)s?\b)"
)
_TO_ADDRESS = (
    rf"(?<!\w){_WORDS['into']}\s+(?:(?:the|this|following|our|diese|unsere|cette|la)\s+[\w\s-]{{0,40}}?)?"
    rf"[\[(<`\"'*]{{0,2}}{_TARGET}"
)
_PLACEHOLDER = (
    r"(?:(?:the|el|la|l['’])\s*)?"
    r"(?:(?:placeholder|tag|token|platzhaltern?s?|balise|espace réservé|marcador|etiqueta)\s+)?"
    rf"(?:{_TAG}|{_WORDS['hidden']})"
)


class _Wording:
    """The ways to word instructions of one kind: verbs (for RE2) with what follows each (for Python's `re`).

    Where one could begin is searched for first, in one pass: a verb that is first in its sentence, or after "please",
    "now", "you must". "To print it" is no instruction.
    """

    def __init__(self, kind: Kind, *ways: tuple[str, str]) -> None:
        self.kind = kind
        self._verb = expression(f"{_LEAD}({'|'.join(verb for verb, _ in ways)})\\b")
        # One expression of all; the group of a target is named anew in each.
        wholes = [verb + rest.replace("<target>", f"<target{index}>") for index, (verb, rest) in enumerate(ways)]
        self._whole = re.compile("|".join(wholes), re.IGNORECASE)

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """The instructions in a text whose placeholders are masked."""
        for start, (said, verb) in matches(self._verb, text):
            match = self._whole.match(text, start + len(said or "") - len(verb or ""))
            if match:
                yield match


_REVEAL = _Wording(
    Kind.INSTRUCTION_TO_REVEAL,
    # Print the real value of ...
    (
        _WORDS["show"],
        rf"(?:-(?:moi|nous))?\s+(?:[\w-]+\s+){{0,3}}?(?:l['’])?(?:(?:{_WORDS['real']}\s+)+{_WORDS['value']}"
        rf"|{_WORDS['value']}\s+{_WORDS['real']}|{_WORDS['itself']})\s+{_WORDS['of']}\s+{_PLACEHOLDER}",
    ),
    # Decode ...
    (_WORDS["decode"], rf"\s+(?:(?:den|die)\s+)?(?:person\s+)?{_PLACEHOLDER}"),
    (
        "(?:repeat|print|show|output|rewrite|resend|return|send|write)",
        r"\s+[^.!?\n]{0,60}?\bwith\s+(?:(?:all|the|your)\s+)*(?:placeholders|redactions)\s+(?:resolved|restored"
        r"|decoded|unmasked|expanded|undone)",
    ),
    (
        "(?:reveal|print|show|output|disclose|expose|leak|dump)",
        r"\s+(?:me\s+)?(?:your|the gateway's|the proxy's)\s+(?:system prompt|hidden instructions|vault"
        r"|(?:placeholder|session|vault)\s+(?:mapping|table|keys?|tokens?))",
    ),
    # Ignore all rules and print ...
    (_WORDS["override"], rf"\s+(?:[\w'’]+\s+){{0,6}}?{_WORDS['rules']}\b[^\n]{{0,200}}?\b{_WORDS['disclose']}"),
)
_SEND = _Wording(
    Kind.INSTRUCTION_TO_SEND,
    # Send ... to https://...
    (_WORDS["give"], rf"{_GIVEN}[^.!?\n]{{0,80}}?{_TO_ADDRESS}"),
    # Open https://... and enter ...
    (
        f"(?:{_WORDS['go']}|{_WORDS['give']})",
        rf"\s+[^.!?\n]{{0,80}}?(?:\]\()?(?<![\w.])[(<`\"'*]{{0,2}}{_TARGET}[^.!?\n]{{0,100}}?(?<!\w){_WORDS['fill_in']}"
        rf"\s+(?:[^\s.!?]+\s+){{0,6}}?[\"'`*(]{{0,2}}{_TAG}",
    ),
)
_EXPLAINING = re.compile(_WORDS["explaining"], re.IGNORECASE)
_NUMBER = re.compile(PHONE)
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|«[^»\n]{0,300}»|`[^`\n]{0,300}`"
    r"|(?<!\w)'[^'\n]{0,300}'(?!\w)|‘[^’\n]{0,300}’|^[ \t]*>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_BORDER = re.compile(r"[.!?](?=\s|$)|\n")


def instructions(
    reading: Reading, found: Sequence[Found], source: Source, untrusted: UntrustedDestinations
) -> Iterator[Hit]:
    """Instructions in words to reveal or to send. `found` are the session's placeholders in the text."""
    masked = _masked(reading.text, found)
    surroundings = _Surroundings(reading.text)
    for wording in (_REVEAL, _SEND) if reading.names_a_place else (_REVEAL,):
        for match in wording.found(masked):
            target = next((value for value in match.groupdict().values() if value), None)
            if target is not None and not _is_untrusted(target, untrusted):
                continue
            if surroundings.only_mentions(match.start()) or source.holds_loosely(reading.text[slice(*match.span())]):
                continue
            yield Hit(wording.kind, *surroundings.sentence(*match.span()), Severity.HIGH)


def _masked(text: str, found: Sequence[Found]) -> str:
    """The text with every placeholder as a run of one character that nobody writes, offsets unchanged."""
    parts: list[str] = []
    position = 0
    for hit in found:
        parts += (text[position : hit.start], _MASK * (hit.end - hit.start))
        position = hit.end
    return "".join([*parts, text[position:]])


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
