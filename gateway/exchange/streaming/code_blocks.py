"""Follows the fenced code blocks of a Markdown text (CommonMark, section 4.5) while it arrives."""

import re

# A fence may be in a quotation or a list.
_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})(.*)", re.DOTALL)
# Characters of a line by which it is known whether it is a fence.
_ENOUGH = 256


class CodeBlocks:
    """Reads a text in pieces and tells whether its end is in a code block."""

    __slots__ = ("_fence", "_line")

    def __init__(self, fence: str = "", line: str = "") -> None:
        self._fence = fence
        self._line = line

    def copy(self) -> "CodeBlocks":
        return CodeBlocks(self._fence, self._line)

    @property
    def is_open(self) -> bool:
        """Whether the text is in a block. The line of a fence that opens one is."""
        return bool(self._fence) or bool(self._after(self._line))

    def add(self, text: str) -> None:
        """Adds text that may end in the middle of a line."""
        end = text.find("\n")
        if end < 0:
            if len(self._line) < _ENOUGH:
                self._line += text[:_ENOUGH]
            return
        first, last = self._line + text[:end], text.rfind("\n")
        self._fence = self._after(first)
        if "```" in text or "~~~" in text:
            for line in text[end + 1 : last].split("\n"):
                self._fence = self._after(line)
        self._line = text[last + 1 : last + 1 + _ENOUGH]

    def closing(self, text: str, start: int = 0) -> int:
        """Adds the lines of `text` that are complete up to the end of the block. Returns where that is, or -1."""
        while (end := text.find("\n", start)) >= 0:
            self.add(text[start : end + 1])
            start = end + 1
            if not self._fence:
                return start
        return -1

    def _after(self, line: str) -> str:
        """Returns the fence that is open after a line."""
        match = _FENCE.match(line)
        if match is None:
            return self._fence
        marks, rest = match.groups()
        if not self._fence:
            return "" if marks[0] == "`" and "`" in rest else marks
        closes = marks[0] == self._fence[0] and len(marks) >= len(self._fence) and not rest.strip()
        return "" if closes else self._fence
