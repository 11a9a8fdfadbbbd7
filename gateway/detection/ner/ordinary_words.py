"""Word lists that ship with the model: ordinary words, which are not names, and given names."""

import hashlib
import re
from pathlib import Path

from gateway.config.data_files import word_lists

_LISTS = word_lists(__file__)
_LOWERCASE, _ASSISTANTS = _LISTS["lowercase"], _LISTS["assistants"]
_WORD = re.compile(r"[^\W_]+")
_MODEL_NUMBER = re.compile(r"[A-Z]*\d+[A-Z]*")
_SHORT = 2
_CAMEL_CASE = re.compile(r"[A-Za-z]+[a-z][A-Z]\w*", re.ASCII)
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|_+")


class WordList:
    """A sorted file of lower-case words, one per line, in byte order; created by training/ordinary.py."""

    def __init__(self, file: Path) -> None:
        # Searched in place: a set would take twenty times the memory.
        self._lines = file.read_bytes()
        self.version = hashlib.sha256(self._lines).hexdigest()[:8]

    def __contains__(self, word: str) -> bool:
        wanted, lines = word.encode(), self._lines
        low, high = 0, len(lines)
        while low < high:
            start = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = lines.find(b"\n", start)
            if (line := lines[start:end]) == wanted:
                return True
            low, high = (end + 1, high) if line < wanted else (low, start)
        return False


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
