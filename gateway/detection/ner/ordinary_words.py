"""Word lists that ship with the model: ordinary words, which are not names, and given names."""

import hashlib
import re
from pathlib import Path

from gateway.config.data_files import word_lists

_LISTS = word_lists(__file__)
_LOWERCASE, _ASSISTANTS = _LISTS["lowercase"], _LISTS["assistants"]
_WORD = re.compile(r"[^\W_]+")
_MODEL_NUMBER = re.compile(r"[A-Z]*\d+[A-Z]*")


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
