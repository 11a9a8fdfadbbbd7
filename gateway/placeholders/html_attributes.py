"""Destinations in HTML: the values of attributes that name an address (HTML Living Standard, tokenization).

Which tag is really one, a renderer decides after reading code spans, comments and much else. So every `<` before a
letter may begin a tag, also inside what looks like an attribute of another one, and all readings are followed side
by side: a text can be outside of every tag, inside one, or inside a double- or single-quoted value.
"""

import re

from gateway.placeholders.destinations import BLANKS, Ledger, Mark, Region

_TAG, _DOUBLE, _SINGLE = 1, 2, 4
_QUOTED = {'"': _DOUBLE, "'": _SINGLE}
_EVENT = re.compile("[<>=\"']")
_EVENT_OR_BLANK = re.compile(f"[<>=\"'{BLANKS}]")
_BLANK = re.compile(f"[{BLANKS}]*")
_NAME = re.compile(r"[\w:.-]{1,40}\Z")
_NAME_PARTS = re.compile("[:.-]")
_ADDRESSES = frozenset(
    """action archive background cite classid codebase data dynsrc formaction href icon imagesrcset longdesc lowsrc
    manifest ping poster profile src srcdoc srcset style usemap""".split()
)


class Attributes:
    """Reads a text in pieces. What it says depends on the text alone, not on where the pieces were cut."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._states = 0
        self._angle = False
        # Behind `=`, where a value begins; `_word` is the end of what stood before.
        self._equals = False
        self._word = ""
        self._open: list[tuple[Region, str]] = []

    def text(self, piece: str) -> None:
        at = 0
        while at < len(piece):
            if self._angle:
                self._angle = False
                if piece[at].isascii() and piece[at].isalpha():
                    self._states |= _TAG
                    self._word, self._equals = "", False
            if self._equals:
                at = self._value(piece, at)
            elif self._states or self._open:
                at = self._step(piece, at)
            else:
                at = piece.find("<", at) + 1
                if not at:
                    return
                self._angle = True

    def mark(self, mark: Mark) -> bool:
        """Whether the placeholder lies in an address, which then decides about it."""
        self._angle = False
        if self._equals:
            self._begin("")
        self._word = ""
        for region, _ in self._open:
            region.mark(mark)
        return bool(self._open)

    def passed(self, mark: Mark) -> None:
        """Nothing here begins with a placeholder."""

    def end(self) -> None:
        for region, _ in self._open:
            region.close()
        self._open.clear()

    def _value(self, piece: str, at: int) -> int:
        """Behind `=`: white space, then a quote or the first character of the value."""
        match = _BLANK.match(piece, at)
        stop = match.end() if match else at
        if stop > at:
            self._blank(piece[at:stop])
        if stop == len(piece):
            return stop
        char = piece[stop]
        if char in _QUOTED:
            word = self._word
            self._special(char, opens=True)
            self._word = word
            self._begin(char)
            return stop + 1
        self._begin("" if char != ">" else char)
        return stop

    def _begin(self, quote: str) -> None:
        """A value begins, in quotes or without."""
        self._equals = False
        name = _NAME.search(self._word.rstrip(BLANKS))
        if quote != ">" and name is not None and _NAME_PARTS.split(name[0].lower())[-1] in _ADDRESSES:
            self._open.append((Region(self._ledger), quote))
        self._word = ""

    def _step(self, piece: str, at: int) -> int:
        unquoted = any(not quote for _, quote in self._open)
        match = (_EVENT_OR_BLANK if unquoted else _EVENT).search(piece, at)
        stop = match.start() if match else len(piece)
        if stop > at:
            for region, _ in self._open:
                region.text(piece[at:stop])
            word = self._word + piece[at:stop]
            name = word.rstrip(BLANKS)
            self._word = name[-40:] + (" " if len(name) < len(word) else "")
        if match is None:
            return stop
        if match[0] in BLANKS:
            self._blank(match[0])
        else:
            self._special(match[0], opens=False)
        return stop + 1

    def _blank(self, text: str) -> None:
        self._close("")
        for region, _ in self._open:
            region.text(text)
        self._word = self._word.rstrip(BLANKS) + " "

    def _special(self, char: str, *, opens: bool) -> None:
        """One of `<>="'`. `opens` says that a quote stands where a value begins."""
        self._close(char if char != ">" else "")
        for region, _ in self._open:
            region.text(char)
        if char == "=":
            self._equals = bool(self._states & _TAG)
            return
        self._word = ""
        if char == "<":
            self._angle = True
        elif char == ">":
            self._states &= ~_TAG
        else:
            quoted = _QUOTED[char]
            states = self._states & ~_TAG & ~quoted
            if self._states & _TAG:
                states |= quoted if opens else _TAG
            if self._states & quoted:
                states |= _TAG
            self._states = states

    def _close(self, quote: str) -> None:
        """Ends the values that `quote` ends, the unquoted ones if it is empty."""
        for region, opened in self._open:
            if opened == quote:
                region.close()
        self._open = [each for each in self._open if each[1] != quote]
