"""Parses destinations in Markdown: of inline links and images, `](...)`, and of reference definitions, `]: ...`.

Both parsers are generous: anything that a lenient renderer takes for a destination is one (CommonMark).
"""

import re

from gateway.destinations.rule import Destination, Mark, UrlRule

_BLANK = " \t\f\v\r"
_SPECIAL = re.compile(rf"[()\\<>\n{_BLANK}]")
_LEAD = re.compile(rf"[\n{_BLANK}]*")
_WORD_END = re.compile(rf"[\n{_BLANK}]")
_ANGLE_END = re.compile(r"[>\n]")
# Where the text may not be a link at all, a placeholder without one of these before it names no host.
_ADDRESS_LIKE = frozenset("/\\&%:?#=")


class _LinkParser:
    """Finds the pair of characters that opens a destination, however the text is cut. Subclasses read the rest.

    `_phase` is empty outside of destinations. `_address` says whether there certainly is a destination.
    """

    _PAIR = ""

    def __init__(self, rule: UrlRule) -> None:
        self._rule = rule
        self._phase = ""
        self._address = False
        # Whether the text so far ends with `]`, and whether that belongs to a placeholder.
        self._bracket = self._of_mark = False

    def text(self, piece: str) -> None:
        at = 0
        while at < len(piece):
            if self._phase:
                self._bracket = False
                at = self._inside(piece, at)
                continue
            if self._bracket and piece.startswith(self._PAIR[1]):
                at = 1
                self._begin(of_mark=self._of_mark)
            elif (found := piece.find(self._PAIR, at)) >= 0:
                at = found + 2
                self._begin(of_mark=False)
            else:
                self._bracket, self._of_mark = piece.endswith("]"), False
                return
            self._bracket = False

    def mark(self, mark: Mark) -> bool:
        """Reads a placeholder. Returns whether it is inside a destination, which then decides about it."""
        self._bracket = self._of_mark = mark.bracketed
        return bool(self._phase) and self._mark(mark)

    def _begin(self, *, of_mark: bool) -> None:
        """Starts a destination. `of_mark` says that the `]` before it belongs to a placeholder."""
        raise NotImplementedError

    def _inside(self, piece: str, at: int) -> int:
        """Reads a part of `piece` inside a destination. Returns the offset up to which it has read."""
        raise NotImplementedError

    def _mark(self, mark: Mark) -> bool:
        raise NotImplementedError


class InlineLinks(_LinkParser):
    """Reads everything from `](` to the closing `)` or to a blank line.

    If a title follows the destination, its placeholders depend on the whole of both.
    """

    _PAIR = "]("

    def __init__(self, rule: UrlRule) -> None:
        super().__init__(rule)
        self._destination: Destination | None = None
        self._whole = Destination(rule)
        self._depth = 0
        self._escaped = self._newline = False

    def _begin(self, *, of_mark: bool) -> None:
        self._destination, self._whole = Destination(self._rule), Destination(self._rule)
        self._phase, self._depth, self._escaped, self._newline = "lead", 0, False, False
        # If the placeholder before `(` is restored, its bracket is gone and there is no link.
        self._address = not of_mark

    def _mark(self, mark: Mark) -> bool:
        self._escaped = self._newline = False
        if self._phase == "lead":
            self._phase = "bare"
        if self._destination is not None:
            self._destination.mark(mark, waits=self._address)
        self._whole.mark(mark, waits=self._address and self._destination is None)
        return self._address

    def end(self) -> None:
        self._end_destination()
        self._whole.close()
        self._phase = ""

    def _inside(self, piece: str, at: int) -> int:
        match = _SPECIAL.search(piece, at)
        stop = match.start() if match else len(piece)
        if stop > at:
            self._add(piece[at:stop])
            self._escaped = False
        if match is None:
            return stop
        self._special(match[0])
        return stop + 1

    def _special(self, char: str) -> None:
        escaped, self._escaped = self._escaped, False
        if char in _BLANK or char == "\n":
            self._blank(char)
        elif escaped:
            self._add(char)
        elif char == ")" and self._phase != "angle" and not self._depth:
            self.end()
        elif char == "<" and self._phase == "lead":
            self._phase = "angle"
        elif char == ">" and self._phase == "angle":
            self._whole.text(char)
            self._end_destination()
        else:
            self._escaped = char == "\\"
            if self._phase != "angle":
                self._depth += (char == "(") - (char == ")")
            self._add(char)

    def _blank(self, char: str) -> None:
        if char == "\n":
            if self._newline:
                self.end()
                return
            self._newline = True
        self._whole.text(char)
        if self._phase == "bare":
            self._end_destination()
        elif self._phase == "angle" and self._destination is not None:
            self._destination.text(char)

    def _add(self, text: str) -> None:
        self._newline = False
        self._address = self._address or not _ADDRESS_LIKE.isdisjoint(text)
        if self._phase == "lead":
            self._phase = "bare"
        if self._destination is not None:
            self._destination.text(text)
        self._whole.text(text)

    def _end_destination(self) -> None:
        if self._destination is not None:
            self._destination.close()
            self._destination = None
            self._phase = "rest"


class Definitions(_LinkParser):
    """Reads the word or the `<...>` that follows `]:`."""

    _PAIR = "]:"

    def __init__(self, rule: UrlRule) -> None:
        super().__init__(rule)
        self._destination = Destination(rule)
        self._newlines = 0
        self._last = ""

    def _begin(self, *, of_mark: bool = False) -> None:
        self._phase, self._newlines, self._address, self._last = "lead", 0, False, ""
        self._destination = Destination(self._rule)

    def _mark(self, mark: Mark) -> bool:
        if self._phase == "lead":
            self._phase = "word"
        self._last = ""
        self._destination.mark(mark, waits=self._address)
        return self._address

    def end(self) -> None:
        self._destination.close()
        self._phase = ""

    def _inside(self, piece: str, at: int) -> int:
        if self._phase == "lead":
            return self._lead(piece, at)
        match = (_ANGLE_END if self._phase == "angle" else _WORD_END).search(piece, at)
        stop = match.start() if match else len(piece)
        if stop > at:
            text = piece[at:stop]
            self._destination.text(text)
            self._address = self._address or not _ADDRESS_LIKE.isdisjoint(text)
            self._last = (self._last + text[-2:])[-2:]
        if match is None:
            return stop
        is_definition = self._phase == "word" and self._last == self._PAIR
        self.end()
        if is_definition:
            self._begin()
            return stop
        return stop + 1

    def _lead(self, piece: str, at: int) -> int:
        """Reads the white space before the destination, which may hold one line break."""
        match = _LEAD.match(piece, at)
        stop = match.end() if match else at
        self._newlines += piece.count("\n", at, stop)
        if self._newlines > 1:
            self.end()
        elif stop < len(piece):
            self._address = piece[stop] == "<"
            self._phase = "angle" if self._address else "word"
            return stop + self._address
        return stop
