"""Word lists that ship with the model: ordinary words, which are not names, and given names."""

import hashlib
import re
from bisect import bisect_right
from pathlib import Path

from gateway.detection.data_files import word_lists

_LISTS = word_lists(__file__)
_LOWERCASE, _ASSISTANTS = _LISTS["lowercase"], _LISTS["assistants"]
_WORD = re.compile(r"[^\W_]+")
_MODEL_NUMBER = re.compile(r"[A-Z]*\d+[A-Z]*")
_SHORT = 2
_STEP = 512
"""Bytes that are searched for a word."""
_CAMEL_CASE = re.compile(r"[A-Za-z]+[a-z][A-Z]\w*", re.ASCII)
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|_+")


class WordList:
    """A sorted file of lower-case words, one per line, in byte order; created by training/ordinary.py."""

    def __init__(self, file: Path) -> None:
        # Searched in place: a set would take twenty times the memory.
        content = file.read_bytes()
        self._lines = b"\n" + content
        self.version = hashlib.sha256(content).hexdigest()[:8]
        # Line breaks at which a search begins and ends, and the words after them.
        self._breaks = [self._lines.rfind(b"\n", 0, at) for at in range(1, len(content), _STEP)]
        self._words = [self._lines[at + 1 : self._lines.find(b"\n", at + 1)] for at in self._breaks]
        self._breaks.append(len(content))

    def __contains__(self, word: str) -> bool:
        wanted = word.encode()
        place = bisect_right(self._words, wanted)
        if not place or b"\n" in wanted:
            return False
        return self._lines.find(b"\n%b\n" % wanted, self._breaks[place - 1], self._breaks[place] + 1) >= 0


class OrdinaryWords(WordList):
    """Words that are not names: a person found in such words alone is an error of the model."""

    def covers(self, text: str) -> bool:
        """Returns whether a text consists of ordinary words alone.

        Single letters, model numbers and names of assistants count.
        """
        words = _WORD.findall(text)
        return all(
            len(word) == 1
            or word in _LOWERCASE
            or word.lower() in _ASSISTANTS
            or word.lower() in self
            or (len(words) > 1 and _MODEL_NUMBER.fullmatch(word))
            for word in words
        )

    def is_identifier(self, word: str) -> bool:
        """Returns whether a word is one of programs, in camel case: `retryCount`, `RetryStrategy`, `isOpen`."""
        if not _CAMEL_CASE.fullmatch(word):
            return False
        # "is", "to" and "my" are not in the list; a short part that opens with a capital may be "De" or "Mc".
        short = _SHORT if word[0].islower() else 1
        parts = _CAMEL_PART.findall(word)
        return all(len(part) <= short or not part.isalpha() or part.lower() in self for part in parts)
