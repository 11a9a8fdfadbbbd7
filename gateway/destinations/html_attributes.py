"""Parses destinations in HTML: the values of attributes that hold an address (HTML Living Standard, tokenization).

Whether a `<` starts a tag depends on code spans, comments and much else that only a renderer knows. Therefore any `<`
before a letter may start one, even inside an apparent attribute of another tag, and the parser follows all
possibilities at once: outside of every tag, inside one, or inside a double- or single-quoted value.
"""

import re
from collections.abc import Callable

from gateway.destinations.rule import BLANKS, Address, Mark

_TAG, _DOUBLE, _SINGLE = 1, 2, 4
_QUOTED = {'"': _DOUBLE, "'": _SINGLE}
_EVENT = re.compile("[<>=\"']")
_EVENT_OR_BLANK = re.compile(f"[<>=\"'{BLANKS}]")
_NAME = re.compile(r"[\w:.-]{1,40}\Z")
_NAME_PARTS = re.compile("[:.-]")
_ADDRESSES = frozenset(
    """action archive background cite classid codebase data dynsrc formaction href icon imagesrcset longdesc lowsrc
    manifest ping poster profile src srcdoc srcset style usemap""".split()
)


class Attributes:
    """Reads a text in pieces. The result depends on the text alone, not on where it is cut."""

    def __init__(self, new: Callable[[], Address]) -> None:
        self._new = new
        # The possible states, without the one outside of every tag, which is always possible.
        self._states = 0
        self._angle = False
        # After `=`, where a value starts; `_word` is the end of the text before it.
        self._equals = False
        self._word = ""
        self._open: list[tuple[Address, str]] = []

    def text(self, piece: str) -> None:
        at = 0
        while at < len(piece):
            if self._angle:
                self._angle = False
                if piece[at].isascii() and piece[at].isalpha():
                    self._states |= _TAG
                    self._word, self._equals = "", False
            if self._states or self._open:
                at = self._step(piece, at)
            else:
                at = piece.find("<", at) + 1
                if not at:
                    return
                self._angle = True

    def mark(self, mark: Mark) -> bool:
        """Reads a placeholder. Returns whether it is inside an address, which then decides about it."""
        self._angle = False
        if self._equals:
            self._begin("")
        self._word = ""
        for destination, _ in self._open:
            destination.mark(mark)
        return bool(self._open)

    def end(self) -> None:
        for destination, _ in self._open:
            destination.close()
        self._open.clear()

    def _add(self, text: str) -> None:
        for destination, _ in self._open:
            destination.text(text)

    def _begin(self, quote: str) -> None:
        """Starts a value, in quotes or without."""
        self._equals = False
        name = _NAME.search(self._word.rstrip(BLANKS))
        if quote != ">" and name is not None and _NAME_PARTS.split(name[0].lower())[-1] in _ADDRESSES:
            self._open.append((self._new(), quote))
        self._word = ""

    def _step(self, piece: str, at: int) -> int:
        """Reads up to the next character that matters, and that character."""
        unquoted = any(not quote for _, quote in self._open)
        match = (_EVENT_OR_BLANK if unquoted or self._equals else _EVENT).search(piece, at)
        stop = match.start() if match else len(piece)
        if stop > at:
            if self._equals:
                self._begin("")
            self._add(piece[at:stop])
            word = self._word + piece[at:stop]
            name = word.rstrip(BLANKS)
            self._word = name[-40:] + (" " if len(name) < len(word) else "")
        if match is None:
            return stop
        char = match[0]
        if char in BLANKS:
            self._close("")
            self._add(char)
            self._word = self._word.rstrip(BLANKS) + " "
        elif self._equals and char in _QUOTED:
            word = self._word
            self._special(char, opens=True)
            self._word = word
            self._begin(char)
        else:
            if self._equals:
                self._begin(char.replace("<", "").replace("=", ""))
            self._special(char, opens=False)
        return stop + 1

    def _special(self, char: str, *, opens: bool) -> None:
        """Reads one of `<>="'`. `opens` says that it is a quote where a value starts."""
        self._close(char if char != ">" else "")
        self._add(char)
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
        """Ends the values in quotes of this kind, or the unquoted ones if `quote` is empty."""
        for destination, opened in self._open:
            if opened == quote:
                destination.close()
        self._open = [each for each in self._open if each[1] != quote]
