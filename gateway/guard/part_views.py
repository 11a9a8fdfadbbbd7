"""An answer's part as the guard reads it. A JSON document is read as the strings and long numbers it holds.

What a tool is given need not be JSON. Then it is read twice: as the strings of a document that is broken, and as one
string, which may be a command.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from gateway.detection.alphabet import LETTERS
from gateway.guard.context import AnswerPart
from gateway.guard.regex_search import expression, holds
from gateway.json_body import is_json
from gateway.placeholders import Literal, number_literals, string_literals

_ADDRESS = expression(
    rf"//|www\.|[{LETTERS}\d_]@|@[{LETTERS}\d_]|[{LETTERS}\d-]\.[{LETTERS}]{{2}}|\d\.\d+\.\d"
    r"|(?:\+|\b00|\b1[-. ])\d[\d ()/.-]{5}|\b0x[\da-f]{6}"
)
_INDENT = 80
_COLON = re.compile(r"\s*:")

type Span = tuple[int, int]


class Reading:
    """`text` is what is looked at. For a JSON document it is its strings, a line each, and `literals` says where.

    `whole`: the document is taken for one string, without quotes.
    """

    def __init__(self, part: AnswerPart, *, whole: bool = False) -> None:
        self.json = part.kind == "json"
        self.text = part.text
        self.literals: list[Span] = []
        self._document = part.text
        if not self.json:
            return
        self._found = [Literal(0, len(part.text), part.text, ((0, 0),))] if whole else _literals(part.text)
        at = 0
        for literal in self._found:
            self.literals.append((at, at + len(literal.value)))
            at += len(literal.value) + 1
        self._starts = [start for start, _ in self.literals]
        self.text = "\n".join(literal.value for literal in self._found)

    @cached_property
    def names_a_place(self) -> bool:
        """Whether anything in it looks like an address: without one nothing can be sent to one."""
        return holds(_ADDRESS, self.text)

    def to_part(self, start: int, end: int) -> Span:
        """A stretch of `text` as one of the part, within the string in which it begins."""
        if not self.json:
            return start, end
        index = self.literal_at(start)
        first, last = self.literals[index]
        return self._found[index].raw_span(start - first, min(end, last) - first)

    def keys(self) -> list[str]:
        """For each of the literals the key it is the value of, in an array that of the array; empty for keys."""
        keys: list[str] = []
        current = ""
        for literal in self._found:
            is_key = _COLON.match(self._document, literal.end) is not None
            current = literal.value if is_key else current
            keys.append("" if is_key else current)
        return keys

    def listed(self, index: int) -> list[Span]:
        """One of the literals and those that follow it in its list, or in the list that comes next."""
        spans = [self.literals[index]]
        for literal, span in zip(self._found[index + 1 :], self.literals[index + 1 :], strict=True):
            if _COLON.match(self._document, literal.end):
                continue
            if self._document[max(0, literal.start - _INDENT) : literal.start].rstrip()[-1:] not in ("[", ","):
                break
            spans.append(span)
        return spans

    def literal_at(self, offset: int) -> int:
        """Which of the literals holds a character of `text`."""
        return max(0, bisect_right(self._starts, offset) - 1)


def readings(part: AnswerPart) -> Iterator[Reading]:
    """The ways to read a part."""
    yield Reading(part)
    if part.kind == "json" and not is_json(part.text):
        yield Reading(part, whole=True)


def _literals(document: str) -> list[Literal]:
    return sorted([*string_literals(document), *number_literals(document)], key=lambda literal: literal.start)
