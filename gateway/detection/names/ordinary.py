"""Words that name nobody, in languages of which the model knows little: of a person made of them alone, it errs."""

import hashlib
import re
from array import array
from bisect import bisect_left
from pathlib import Path

_WORD = re.compile(r"[^\W_]+")


class OrdinaryWords:
    """The words of a file, one a line, in small letters and sorted; `training/ordinary.py` makes it."""

    def __init__(self, file: Path) -> None:
        # One string and where its lines begin: a set would take twenty times the memory.
        self._text = file.read_text(encoding="utf-8")
        self._starts = array("I", [0, *(found.end() for found in re.finditer("\n", self._text))])
        self.version = hashlib.sha256(self._text.encode()).hexdigest()[:8]

    def __contains__(self, word: str) -> bool:
        at = bisect_left(range(len(self._starts) - 1), word, key=self._word)
        return at < len(self._starts) - 1 and self._word(at) == word

    def make_up(self, text: str) -> bool:
        """Whether a text consists of such words alone. A letter by itself is one of them."""
        return all(len(word) == 1 or word in self for word in _WORD.findall(text.lower()))

    def _word(self, number: int) -> str:
        return self._text[self._starts[number] : self._starts[number + 1] - 1]
