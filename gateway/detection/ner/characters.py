"""Folds text as BERT's normalizer does: without marks and control characters, in lower case. Unlike there, marks that
stay, which are none of the vocabulary, keep their order.

A file says what becomes of each character (training/characters.py), so that no version of Unicode changes a token.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from unicodedata import normalize

_FIRST_BEYOND_BMP = "\U00010000"
_HANGUL = "가힣"
_PRIVATE = ["\ue000\uf8ff", "\U000f0000\U000ffffd", "\U00100000\U0010fffd"]
# Replaces a word of one character beyond the BMP. The vocabulary has none of them, and this one is dropped itself.
_STAND_IN = "\ufffd"


class Characters:
    """Reads such a file. `spaces` separate words, each of `alone` is a word; both are sets of a regular expression."""

    def __init__(self, file: Path) -> None:
        stored = json.loads(file.read_text("ascii"))
        folded, alone = stored["folded"], stored["alone"]
        removed = _members((*(each for each in stored["dropped"] if each not in _PRIVATE), *stored["marks"]))
        # All others stay as they are, except private ones: these are dropped, and too many for a table.
        listed: dict[str, str] = folded | dict.fromkeys(removed, "")
        self._become = listed | {char: normalize("NFD", char) for char in _members([_HANGUL])}
        self._one_to_one = str.maketrans({char: to for char, to in folded.items() if len(to) == 1})
        self._private = re.compile(f"[{_set(_PRIVATE)}]")
        self._beyond = re.compile(f"[{_FIRST_BEYOND_BMP}-\U0010ffff]")
        self._alone_beyond = re.compile(f"[{_set(each for each in alone if each >= _FIRST_BEYOND_BMP)}]")
        # Characters that do not become one in their place. All beyond the BMP are here, as few texts have any, and a
        # set with ranges of them is slow to search.
        odd = [char for char, to in listed.items() if len(to) != 1 or to >= _FIRST_BEYOND_BMP]
        odd = [*(char for char in odd if char < _FIRST_BEYOND_BMP), _HANGUL, _PRIVATE[0]]
        self._odd = re.compile(f"[{_set(odd)}{_FIRST_BEYOND_BMP}-\U0010ffff]")
        self.alone = _set([*(each for each in alone if each < _FIRST_BEYOND_BMP), _STAND_IN])
        self.spaces = _set(stored["spaces"])

    def fold(self, text: str) -> tuple[str, Sequence[int] | None]:
        """Returns the folded text, and where each of its characters was; None if they are where they were."""
        if self._odd.search(text) is None:
            return text.lower() if text.isascii() else text.translate(self._one_to_one), None
        become = self._become
        parts = [become.get(char, char) for char in text]
        if self._private.search(text):
            parts = ["" if self._private.match(char) else part for char, part in zip(text, parts, strict=True)]
        are_even = set(map(len, parts)) == {1}
        places = None if are_even else [place for place, part in enumerate(parts) for _ in part]
        folded = self._beyond.sub(
            lambda found: _STAND_IN if self._alone_beyond.match(found[0]) else found[0], "".join(parts)
        )
        return folded, places


def _members(ranges: Iterable[str]) -> Iterator[str]:
    """Yields the characters of ranges, each of which is its first and its last character, or only one."""
    return (chr(code) for each in ranges for code in range(ord(each[0]), ord(each[-1]) + 1))


def _set(ranges: Iterable[str]) -> str:
    """Returns such ranges as the content of a regular expression's set."""
    return "".join("-".join(map(re.escape, each)) for each in ranges)
