"""Reads the parts of an answer: those of one message together, a JSON document as the strings in it.

The input of a tool need not be JSON. Then it is read twice: as the strings of a broken document, and as one string,
which may be a command or lines of keys with their values.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter, itemgetter

from gateway.destinations.patterns import Patterns, first
from gateway.detection.alphabet import LETTERS
from gateway.http.strict_json import is_json
from gateway.placeholders import Literal, number_literals, string_literals
from gateway.text.answers import AnswerText

_PATTERNS = Patterns(__file__, letters=f"[{LETTERS}]", word=rf"[{LETTERS}\d_]", label=rf"[{LETTERS}\d-]")
_ADDRESS = _PATTERNS.expression("<<address>>")
_FIELD = _PATTERNS.compiled("field", re.IGNORECASE | re.MULTILINE)
_COLON = re.compile(r"\s*:")


class Reading:
    """Parts, by index, that belong together. `text` is what is inspected: a JSON document's strings and long numbers.

    `whole`: the document is read as one string, without quotes.
    """

    def __init__(self, parts: Mapping[int, AnswerText], kind: str, *, whole: bool = False) -> None:
        self.kind = kind
        self._parts = parts
        self._whole = whole
        self.text = "".join(part.text for part in parts.values())
        # Empty for a text, which is its own source.
        self._literals = _literals(self.text) if self.kind == "json" and not whole else []
        self.strings = [(0, self.text, "[]")]
        """The lines of `text`: where each begins, the line, and the key that it is the value of."""
        if self._literals:
            self.strings = _strings(self.text, self._literals)
            self.text = "\n".join(literal.value for literal in self._literals)

    @cached_property
    def names_a_place(self) -> bool:
        """Whether anything in it looks like an address: without one nothing can be sent to one."""
        return first(_ADDRESS, self.text) is not None

    def key_at(self, offset: int) -> str:
        """The key of the string that holds a character of `text`."""
        return self.strings[self._index(offset)][2]

    def to_source(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """A span of `text`, within the string in which it begins, as spans of the parts: index, start, end."""
        if self._literals:
            index = self._index(start)
            first, value, _ = self.strings[index]
            start, end = self._literals[index].raw_span(start - first, min(end - first, len(value)))
        for index, part in self._parts.items():
            if max(start, 0) < min(end, len(part.text)):
                yield index, max(start, 0), min(end, len(part.text))
            start, end = start - len(part.text), end - len(part.text)

    def fields(self) -> Iterator[tuple[str, str]]:
        """Keys with their values, also those of a document in a string; of what is no document, its lines."""
        if self._whole:
            yield from ((key or tag, value or inner) for key, value, tag, inner in _FIELD.findall(self.text))
        else:
            yield from _fields(self.strings)

    def _index(self, offset: int) -> int:
        return max(0, bisect_right(self.strings, offset, key=itemgetter(0)) - 1)


def _literals(document: str) -> list[Literal]:
    return sorted([*string_literals(document), *number_literals(document)], key=attrgetter("start"))


def _strings(document: str, literals: Sequence[Literal]) -> list[tuple[int, str, str]]:
    """The values of a document's literals with their offsets and keys. In an array, the key is that of the array."""
    # The key of a list that is the whole document.
    at, current = 0, "[]"
    strings: list[tuple[int, str, str]] = []
    for literal in literals:
        is_key = _COLON.match(document, literal.end) is not None
        current = literal.value if is_key else current
        strings.append((at, literal.value, "" if is_key else current))
        at += len(literal.value) + 1
    return strings


def _fields(strings: Sequence[tuple[int, str, str]]) -> Iterator[tuple[str, str]]:
    for _, value, key in strings:
        yield key, value
        if value[:1] in ("{", "[") and is_json(value):
            yield from _fields(_strings(value, _literals(value)))


def readings(parts: Sequence[AnswerText]) -> Iterator[Reading]:
    """The ways to read the parts; the text parts of one message, which a client shows as one text, are together."""
    together: dict[tuple[int, int], dict[int, AnswerText]] = {}
    start = 0
    for index, part in enumerate(parts):
        is_text = part.kind == part.key == "text"
        # Between two such parts is the type of the next one.
        if not is_text and part.key != "type":
            start = index
        together.setdefault((start, part.choice) if is_text else (index, -1), {})[index] = part
    for each in together.values():
        part = next(iter(each.values()))
        yield Reading(each, part.kind)
        if part.kind == "json" and not is_json(part.text):
            yield Reading(each, part.kind, whole=True)
