"""Reads the parts of an answer: those of one message together, a JSON document as the strings in it.

The input of a tool need not be JSON. Then it is read twice: as the strings of a broken document, and as one string,
which may be a command or lines of keys with their values.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter

from gateway.detection.alphabet import LETTERS
from gateway.guard.context import AnswerPart
from gateway.guard.patterns import Patterns, holds
from gateway.http.strict_json import is_json
from gateway.placeholders import Literal, number_literals, string_literals

_PATTERNS = Patterns(__file__, letters=f"[{LETTERS}]", word=rf"[{LETTERS}\d_]", label=rf"[{LETTERS}\d-]")
_ADDRESS = _PATTERNS.expression("address")
_FIELD = _PATTERNS.compiled("field", re.IGNORECASE | re.MULTILINE)
_COLON = re.compile(r"\s*:")


class Reading:
    """`text` is what is inspected. Of a JSON document it is the strings and long numbers, a line each.

    `whole`: the document is read as one string, without quotes.
    """

    def __init__(self, text: str, *, is_json: bool, whole: bool = False) -> None:
        self.json = is_json
        self._document = text
        self._whole = whole
        # Empty for a text, which is its own source.
        self._literals: list[Literal] = []
        if is_json and not whole:
            self._literals = sorted([*string_literals(text), *number_literals(text)], key=attrgetter("start"))
            text = "\n".join(literal.value for literal in self._literals)
        self.text = text

    @cached_property
    def names_a_place(self) -> bool:
        """Whether anything in it looks like an address: without one nothing can be sent to one."""
        return holds(_ADDRESS, self.text)

    @cached_property
    def strings(self) -> list[tuple[int, str, str]]:
        """The lines of `text`: where each begins, the line, and the key that it is the value of.

        In an array that is the key of the array; of a key it is empty.
        """
        # What a list that is the whole document belongs to.
        at, current = 0, "[]"
        strings: list[tuple[int, str, str]] = [] if self._literals else [(0, self.text, current)]
        for literal in self._literals:
            is_key = _COLON.match(self._document, literal.end) is not None
            current = literal.value if is_key else current
            strings.append((at, literal.value, "" if is_key else current))
            at += len(literal.value) + 1
        return strings

    def key_at(self, offset: int) -> str:
        """The key of the string that holds a character of `text`."""
        return self.strings[self._index(offset)][2]

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """A span of `text` as one of what was read, within the string in which it begins."""
        if not self._literals:
            return start, end
        index = self._index(start)
        first, value, _ = self.strings[index]
        return self._literals[index].raw_span(start - first, min(end - first, len(value)))

    def fields(self) -> Iterator[tuple[str, str]]:
        """Keys with their values, also those of a document in a string; of what is no document, its lines."""
        if self._whole:
            for key, value, tag, inner in _FIELD.findall(self.text):
                yield key or tag, value or inner
            return
        for _, value, key in self.strings:
            yield key, value
            if value[:1] in ("{", "[") and is_json(value):
                yield from Reading(value, is_json=True).fields()

    def _index(self, offset: int) -> int:
        return max(0, bisect_right(self.strings, offset, key=itemgetter(0)) - 1)


def readings(parts: Sequence[AnswerPart]) -> Iterator[Reading]:
    """The ways to read parts that belong together."""
    text, is_call = "".join(part.text for part in parts), parts[0].kind == "json"
    yield Reading(text, is_json=is_call)
    if is_call and not is_json(text):
        yield Reading(text, is_json=True, whole=True)


def runs(parts: Sequence[AnswerPart]) -> list[list[int]]:
    """The indices of the parts; the text parts of one message, which a client shows as one text, are together."""
    found: list[list[int]] = []
    current: list[int] = []
    for index, part in enumerate(parts):
        if part.kind == part.key == "text" and current and parts[current[0]].choice == part.choice:
            current.append(index)
            continue
        found.append([index])
        # Between two such parts is the type of the next one.
        current = found[-1] if part.kind == part.key == "text" else current if part.key == "type" else []
    return found


def split(parts: Sequence[AnswerPart], start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """A stretch of parts that were read together as those of each: index, start, end."""
    at = 0
    for index, part in enumerate(parts):
        first, last = max(start - at, 0), min(end - at, len(part.text))
        if first < last:
            yield index, first, last
        at += len(part.text)
