"""Parses destinations in Markdown: of inline links and images, `](...)`, and of reference definitions, `]: ...`.

It is generous: anything that a lenient renderer takes for a destination is one (CommonMark).
"""

import re
from collections.abc import Callable

from gateway.destinations.rule import BLANKS, Address, Mark

_SPECIAL = re.compile(rf"[()\\<>{BLANKS}]")
# In text that may not be a link at all, a placeholder names a host only after one of these characters.
_ADDRESS_LIKE = frozenset("/\\&%:?#=")


class MarkdownLinks:
    """Reads from `](` to the closing `)` or to a blank line; or after `]:` one word, or `<...>`.

    If a title follows the destination of a link, its placeholders depend on the whole of both.
    """

    def __init__(self, new: Callable[[], Address], opening: str) -> None:
        self._new = new
        self._opening = opening
        self._is_link = opening == "]("
        # Empty outside of links; "lead", "bare", "angle", and "rest" after the destination.
        self._phase = ""
        # Whether there certainly is a destination.
        self._sure = False
        # The last two characters of the text so far, and whether a bracket at its end belongs to a placeholder.
        self._last = ""
        self._of_mark = False
        self._destination: Address | None = None
        self._whole = new()
        self._depth = 0
        self._escaped = self._newline = False

    def text(self, piece: str) -> None:
        at = 0
        while at < len(piece):
            if self._phase:
                at = self._inside(piece, at)
            elif not at and self._last[-1:] == "]" and piece.startswith(self._opening[1]):
                at = 1
                self._begin(of_mark=self._of_mark)
            elif (found := piece.find(self._opening, at)) >= 0:
                at = found + 2
                self._begin(of_mark=False)
            else:
                self._last, self._of_mark = piece[-2:], False
                return

    def mark(self, mark: Mark) -> bool:
        """Reads a placeholder. Returns whether it is inside a destination, which then decides about it."""
        self._last, self._of_mark = "]" if mark.bracketed else "", mark.bracketed
        if not self._phase:
            return False
        self._escaped = self._newline = False
        if self._phase == "lead":
            self._phase = "bare"
        if self._destination is not None:
            self._destination.mark(mark, waits=self._sure)
        self._whole.mark(mark, waits=self._sure and self._destination is None)
        return self._sure

    def end(self) -> None:
        self._end_destination()
        self._whole.close()
        self._phase = ""

    def _begin(self, *, of_mark: bool) -> None:
        self._phase, self._depth, self._escaped, self._newline = "lead", 0, False, False
        self._destination, self._whole = self._new(), self._new()
        # If the placeholder before `(` is restored, its bracket is gone and there is no link.
        self._sure, self._last = self._is_link and not of_mark, ""

    def _inside(self, piece: str, at: int) -> int:
        """Reads a part of `piece` inside a link. Returns the offset up to which it has read."""
        match = _SPECIAL.search(piece, at)
        stop = match.start() if match else len(piece)
        if stop > at:
            self._add(piece[at:stop])
            self._escaped = False
        if match is None:
            return stop
        char, escaped = match[0], self._escaped
        self._escaped = False
        if char in BLANKS:
            self._blank(char)
        elif char == "<" and self._phase == "lead":
            self._phase, self._sure = "angle", self._sure or not self._is_link
        elif char == ">" and self._phase == "angle" and not (escaped and self._is_link):
            self._whole.text(char)
            self._end_destination()
        elif char == ")" and self._is_link and self._phase != "angle" and not (self._depth or escaped):
            self.end()
        else:
            self._escaped = char == "\\" and not escaped
            if self._phase != "angle" and not escaped:
                self._depth += (char == "(") - (char == ")")
            self._add(char)
        return stop + 1

    def _blank(self, char: str) -> None:
        is_break = char == "\n"
        if is_break and (self._newline or (self._phase == "angle" and not self._is_link)):
            self.end()
            return
        self._newline = self._newline or is_break
        self._whole.text(char)
        if self._phase == "angle" and self._destination is not None:
            self._destination.text(char)
        elif self._phase == "bare" and self._is_link:
            self._end_destination()
        elif self._phase == "bare":
            self.end()
            if self._last == self._opening:
                self._begin(of_mark=False)
                self._newline = is_break

    def _add(self, text: str) -> None:
        self._newline = False
        self._sure = self._sure or not _ADDRESS_LIKE.isdisjoint(text)
        self._last = (self._last + text[-2:])[-2:]
        if self._phase == "lead":
            self._phase = "bare"
        if self._destination is not None:
            self._destination.text(text)
        self._whole.text(text)

    def _end_destination(self) -> None:
        if self._destination is not None:
            self._destination.close()
            self._destination, self._phase = None, "rest" if self._is_link else ""
