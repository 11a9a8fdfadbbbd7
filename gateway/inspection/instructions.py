"""Orders in an answer, addressed to whoever acts on it: give away what a placeholder hides, or send it somewhere.

A model's text is read by people, but also by agents that do what it says; an injected document speaks to them so.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import re2

from gateway.detection.expression import Expression
from gateway.inspection import phrases
from gateway.inspection.context import Hit, Source
from gateway.inspection.phrases import Order
from gateway.inspection.tool_calls import sent_abroad
from gateway.inspection.verdict import Kind, Severity
from gateway.placeholders import Found


def _verb_finder(*orders: Sequence[Order]) -> Expression:
    """Finds where an order could begin: the one look that every answer gets."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    verbs = "|".join(order.verb for group in orders for order in group)
    return Expression(re2.compile(f"(?:^|[^\\pL\\d])({verbs})(?:$|[^\\pL\\d])", options))


def _compiled(orders: Sequence[Order]) -> re.Pattern[str]:
    """One expression of all; the group of a target is named anew in each."""
    filled = [
        f"{order.verb}{order.rest}".replace("{TARGET}", phrases.TARGET.replace("<target>", f"<target{index}>"))
        for index, order in enumerate(orders)
    ]
    return re.compile("|".join(filled).replace("{TAG}", phrases.TAG), re.IGNORECASE)


_VERB = _verb_finder(phrases.REVEAL, phrases.OVERRIDE, phrases.SEND)
_REVEAL = _compiled(phrases.REVEAL)
_OVERRIDE = _compiled(phrases.OVERRIDE)
_SEND = _compiled(phrases.SEND)
_LEAD = re.compile(phrases.LEAD, re.IGNORECASE)
_EXPLAINING = re.compile(phrases.EXPLAINING, re.IGNORECASE)
# One cheap look first: without one of these words, and without a placeholder, nothing below can match.
_ABOUT_THE_HIDDEN = (
    *("placeholder", "platzhalter", "redacted", "masked", "hidden", "protected", "withheld", "anonymi", "your system"),
    *("your vault", "your session", "gateway's", "proxy's"),
)
_ABOUT_RULES = (
    *("ignor", "disregard", "forget", "overrid", "bypass", "vergiss", "vergess", "missacht", "übergeh", "umgeh"),
    *("oubli", "néglig", "contourn", "outrepass", "olvid", "omit", "descart"),
)
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|«[^»\n]{0,300}»|`[^`\n]{0,300}`"
    r"|(?<!\w)'[^'\n]{0,300}'(?!\w)|‘[^’\n]{0,300}’|^[ \t]*>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_BORDER = re.compile(r"[.!?](?=\s|$)|\n")


def orders(text: str, found: Sequence[Found], source: Source) -> Iterator[Hit]:
    """Instructions in words to reveal or to send. `found` are the session's placeholders in the text."""
    plain = text.lower()
    looked_for: list[tuple[Kind, re.Pattern[str]]] = []
    if found or any(word in plain for word in _ABOUT_THE_HIDDEN):
        looked_for += [(Kind.INSTRUCTION_TO_REVEAL, _REVEAL), (Kind.INSTRUCTION_TO_SEND, _SEND)]
    if any(stem in plain for stem in _ABOUT_RULES):
        looked_for.append((Kind.INSTRUCTION_TO_REVEAL, _OVERRIDE))
    if not looked_for:
        return
    masked = _masked(text, found)
    surroundings = _Surroundings(text)
    for at in _verbs(masked):
        for kind, pattern in looked_for:
            match = pattern.match(masked, at)
            if match and _begins_order(masked, at) and not _is_harmless(match, surroundings, source):
                yield Hit(kind, *surroundings.sentence(*match.span()), Severity.HIGH)


def commands(text: str, found: Sequence[Found], source: Source) -> Iterator[Hit]:
    """Commands and code that send a placeholder to a host nobody named, for an agent to run."""
    leaving = sent_abroad(text, [hit.start for hit in found], source, by_name=True)
    for hit in found:
        if hit.start in leaving:
            yield Hit(Kind.INSTRUCTION_TO_SEND, hit.start, hit.end, Severity.MEDIUM)


def _masked(text: str, found: Sequence[Found]) -> str:
    """The text with every placeholder as a run of one character that nobody writes, offsets unchanged."""
    parts: list[str] = []
    position = 0
    for hit in found:
        parts += (text[position : hit.start], phrases.TAG[0] * (hit.end - hit.start))
        position = hit.end
    parts.append(text[position:])
    return "".join(parts)


def _verbs(text: str) -> Iterator[int]:
    """Where the verbs of giving stand."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) == len(text):
        yield from (match.start(1) for match in _VERB.finditer(data))
        return
    at = seen = 0
    for match in _VERB.finditer(data):
        begin = match.start(1)
        at, seen = at + len(data[seen:begin].decode("utf-8", "surrogatepass")), begin
        yield at


def _begins_order(text: str, at: int) -> bool:
    """Whether a verb is first in its sentence, or behind "please", "now", "you must": "to print it" orders nothing."""
    return _LEAD.search(text[max(0, at - phrases.LONGEST_LEAD) : at]) is not None


def _is_harmless(match: re.Match[str], surroundings: "_Surroundings", source: Source) -> bool:
    """Said in the request already, quoted to explain it, or sending to an address that the request named."""
    target = next((value for value in match.groupdict().values() if value), None)
    if target is not None and source.holds(_host(target)):
        return True
    start, end = match.span()
    return surroundings.only_mentions(start) or source.holds_loosely(surroundings.text[start:end])


def _host(target: str) -> str:
    address = target.rstrip(").,;:!?").lower()
    return address if "@" in address else re.sub(r"^[a-z]+://", "", address).split("/")[0]


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
