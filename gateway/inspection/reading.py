"""An answer's part as the guard reads it. A JSON document is read as the strings and long numbers it holds."""

from bisect import bisect_right

from gateway.inspection.context import AnswerPart
from gateway.placeholders import number_literals, string_literals

type Span = tuple[int, int]


class Reading:
    """`text` is what is looked at. For a JSON document it is its strings, a line each, and `literals` says where."""

    __slots__ = ("_found", "_starts", "json", "literals", "text")

    def __init__(self, part: AnswerPart) -> None:
        self.json = part.kind == "json"
        self.text = part.text
        self.literals: list[Span] = []
        if not self.json:
            return
        self._found = sorted(
            [*string_literals(part.text), *number_literals(part.text)], key=lambda literal: literal.start
        )
        at = 0
        for literal in self._found:
            self.literals.append((at, at + len(literal.value)))
            at += len(literal.value) + 1
        self._starts = [start for start, _ in self.literals]
        self.text = "\n".join(literal.value for literal in self._found)

    def to_part(self, start: int, end: int) -> Span:
        """A stretch of `text` as one of the part, within the string in which it begins."""
        if not self.json:
            return start, end
        index = self.literal_at(start)
        first, last = self.literals[index]
        return self._found[index].raw_span(start - first, min(end, last) - first)

    def literal_at(self, offset: int) -> int:
        """Which of the literals holds a character of `text`."""
        return max(0, bisect_right(self._starts, offset) - 1)
