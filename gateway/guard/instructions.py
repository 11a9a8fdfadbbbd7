"""Finds instructions in an answer to reveal what a placeholder hides, or to send it somewhere.

A model's text is read by people, but also by agents that do what it says; an injected document speaks to them so. The
words and the ways to put them together are in `instructions.toml`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from gateway.destinations.patterns import Patterns, matches
from gateway.destinations.trust import PHONE, UntrustedDestinations
from gateway.detection.overlaps import meets
from gateway.detection.re2_expression import Expression
from gateway.guard.context import GuardContext
from gateway.guard.readings import Reading
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.placeholders import Found, splice

# Replaces each character of a placeholder. It is a private-use character, which texts do not contain.
_MASK = "\ue000"
_PATTERNS = Patterns(__file__, tag=f"{_MASK}++", phone=PHONE)


def _wording(kind: Kind) -> tuple[Expression, re.Pattern[str]]:
    """Returns an RE2 expression that finds where an instruction of a kind could begin, and all the ways to word one.

    It begins with a verb that is first in its sentence, or after "please", "now", "you must": "To print it" is none.
    """
    ways = [(_PATTERNS.filled(way["verb"]), _PATTERNS.filled(way["rest"])) for way in _PATTERNS.table[kind]]
    begin = _PATTERNS.expression(f"<<begin>>({'|'.join(verb for verb, _ in ways)})\\b")
    # The group of a target is named anew in each.
    wholes = [verb + rest.replace("<target>", f"<target{index}>") for index, (verb, rest) in enumerate(ways)]
    return begin, re.compile("|".join(wholes), re.IGNORECASE)


_WORDINGS = {kind: _wording(kind) for kind in (Kind.INSTRUCTION_TO_REVEAL, Kind.INSTRUCTION_TO_SEND)}
_EXPLAINING = _PATTERNS.compiled("explaining")
_QUOTED = _PATTERNS.compiled("quoted", re.DOTALL | re.MULTILINE)
_BORDER = re.compile(r"[.!?](?=\s|$)|\n")


def instructions(reading: Reading, found: Sequence[Found], context: GuardContext) -> Iterator[Hit]:
    """Instructions in words to reveal or to send. `found` are the session's placeholders in the text."""
    text = reading.text
    masked = splice(text, ((hit.start, hit.end, _MASK * (hit.end - hit.start)) for hit in found))
    said: list[tuple[Kind, int, int]] = []
    for kind, (begin, whole) in _WORDINGS.items():
        if kind is Kind.INSTRUCTION_TO_SEND and not reading.names_a_place:
            continue
        for start, (words, verb) in matches(begin, masked):
            match = whole.match(masked, start + len(words) - len(verb))
            target = match and next(filter(None, match.groupdict().values()), None)
            if match and (target is None or _is_untrusted(target, context.untrusted)):
                said.append((kind, *match.span()))
    if not said:
        return
    # Words quoted in a text about such words explain the attack.
    quoted = [match.span() for match in _QUOTED.finditer(text)] if _EXPLAINING.search(text) else []
    borders = [0, *(match.end() for match in _BORDER.finditer(text)), len(text)]
    for kind, start, end in said:
        if not meets(quoted, start, start + 1) and not context.source.holds_loosely(text[start:end]):
            # The whole sentence or sentences, without white space at the ends.
            first = borders[bisect_right(borders, start) - 1]
            sentence = text[first : borders[min(bisect_left(borders, end), len(borders) - 1)]]
            first += len(sentence) - len(sentence.lstrip())
            yield Hit(kind, first, first + len(sentence.strip()), Severity.HIGH)


def _is_untrusted(target: str, untrusted: UntrustedDestinations) -> bool:
    address = target.rstrip(").,;:!?*`\"'")
    if address.startswith("@"):
        return not untrusted.source.holds(address)
    return untrusted.is_one(address)
