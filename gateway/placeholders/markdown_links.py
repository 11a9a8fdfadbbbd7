"""Markdown's destinations: of inline links and images, `](...)`, and of reference definitions, `]: ...` (CommonMark).

Both readers are generous: what a sloppy renderer would take for a destination is one.
"""

import re

from gateway.placeholders.destinations import Ledger, Mark, Region

_BLANK = " \t\f\v\r"
_SPECIAL = re.compile(rf"[()\\<>\n{_BLANK}]")
_LEAD = re.compile(rf"[\n{_BLANK}]*")
_WORD_END = re.compile(rf"[\n{_BLANK}]")
_ANGLE_END = re.compile(r"[>\n]")
# Where it is not sure that there is a destination at all: without one of these before the placeholder it leads to no
# host of somebody else.
_ADDRESS_LIKE = frozenset("/\\&%:?#=")


class _BehindBracket:
    """Finds `]` directly followed by a character, however the pieces are cut."""

    def __init__(self, character: str) -> None:
        self._pair = "]" + character
        self._bracket = self._by_mark = False
        # Whether the bracket was the one of a placeholder. If that is restored, there is no link.
        self.by_mark = False

    def find(self, piece: str, start: int) -> int:
        """Where the text behind the pair begins, or -1. To be called again from there, or with the next piece."""
        bracket, self._bracket = self._bracket and start == 0, False
        self.by_mark, self._by_mark = self._by_mark, False
        if bracket and piece.startswith(self._pair[1]):
            return 1
        self.by_mark = False
        at = piece.find(self._pair, start)
        if at < 0:
            self._bracket = piece.endswith("]")
            return -1
        return at + 2

    def forget(self) -> None:
        """Other text has come in between."""
        self._bracket = self._by_mark = False

    def mark(self, mark: Mark) -> None:
        self._bracket = self._by_mark = mark.bracketed


class InlineDestinations:
    """Reads a text in pieces: everything from `](` to the `)` that closes it, or to a blank line."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._opening = _BehindBracket("(")
        # The destination, and with it title and all: what stands behind the destination is allowed as a whole only.
        self._first: Region | None = None
        self._whole = Region(ledger)
        self._phase = ""
        self._depth = 0
        self._escaped = self._newline = False
        self._address = False

    def text(self, piece: str) -> None:
        at = 0
        while at < len(piece):
            if self._phase:
                self._opening.forget()
                at = self._inside(piece, at)
                continue
            at = self._opening.find(piece, at)
            if at < 0:
                return
            self._first, self._whole = Region(self._ledger), Region(self._ledger)
            self._phase, self._depth, self._escaped, self._newline = "lead", 0, False, False
            self._address = not self._opening.by_mark

    def mark(self, mark: Mark) -> bool:
        """Whether the placeholder lies in a destination, which then decides about it."""
        if not self._phase:
            return False
        self._escaped = self._newline = False
        if self._phase == "lead":
            self._phase = "bare"
        if self._first is not None:
            self._first.mark(mark, waits=self._address)
        self._whole.mark(mark, waits=self._address and self._first is None)
        return self._address

    def passed(self, mark: Mark) -> None:
        self._opening.mark(mark)

    def end(self) -> None:
        self._end_first()
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
            self._end_first()
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
            self._end_first()
        elif self._phase == "angle" and self._first is not None:
            self._first.text(char)

    def _add(self, text: str) -> None:
        self._newline = False
        self._address = self._address or not _ADDRESS_LIKE.isdisjoint(text)
        if self._phase == "lead":
            self._phase = "bare"
        if self._first is not None:
            self._first.text(text)
        self._whole.text(text)

    def _end_first(self) -> None:
        if self._first is not None:
            self._first.close()
            self._first = None
            self._phase = "rest"


class Definitions:
    """Reads a text in pieces: the word or the `<...>` that follows `]:`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._opening = _BehindBracket(":")
        self._region = Region(ledger)
        self._phase = ""
        self._newlines = 0
        self._address = False
        self._last = ""

    def text(self, piece: str) -> None:
        at = 0
        while at < len(piece):
            if self._phase:
                self._opening.forget()
            if self._phase == "lead":
                at = self._lead(piece, at)
            elif self._phase:
                at = self._inside(piece, at)
            else:
                at = self._opening.find(piece, at)
                if at < 0:
                    return
                self._begin()

    def mark(self, mark: Mark) -> bool:
        """Whether the placeholder lies in a destination, which then decides about it."""
        if self._phase == "lead":
            self._phase = "word"
        if not self._phase:
            return False
        self._last = ""
        self._region.mark(mark, waits=self._address)
        return self._address

    def passed(self, mark: Mark) -> None:
        self._opening.mark(mark)

    def end(self) -> None:
        self._region.close()
        self._phase = ""

    def _begin(self) -> None:
        self._phase, self._newlines, self._address, self._last = "lead", 0, False, ""
        self._region = Region(self._ledger)

    def _lead(self, piece: str, at: int) -> int:
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

    def _inside(self, piece: str, at: int) -> int:
        match = (_ANGLE_END if self._phase == "angle" else _WORD_END).search(piece, at)
        stop = match.start() if match else len(piece)
        if stop > at:
            text = piece[at:stop]
            self._region.text(text)
            self._address = self._address or not _ADDRESS_LIKE.isdisjoint(text)
            self._last = (self._last + text[-2:])[-2:]
        if match is None:
            return stop
        definition = self._phase == "word" and self._last == "]:"
        self.end()
        if definition:
            self._begin()
            return stop
        return stop + 1
