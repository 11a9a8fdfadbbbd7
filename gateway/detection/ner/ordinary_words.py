"""Words that lie beside the model, for what it knows too little of: those that name nobody, and given names."""

import hashlib
import re
from pathlib import Path

from gateway.detection.ner.lowercase_words import SMALL

_WORD = re.compile(r"[^\W_]+")
_MODEL = re.compile(r"[A-Z]*\d+[A-Z]*")


class Words:
    """The words of a file, one a line, in small letters and sorted by their bytes; made by training/ordinary.py."""

    def __init__(self, file: Path) -> None:
        # As they lie in the file: a set of them would take twenty times the memory.
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


class OrdinaryWords(Words):
    """Words that name nobody: of a person made of them alone, the model errs."""

    def make_up(self, text: str) -> bool:
        """Whether a text consists of such words alone. A letter by itself is one of them, and a model's number is."""
        words = _WORD.findall(text)
        return all(
            len(word) == 1 or word in SMALL or word.lower() in self or (len(words) > 1 and _MODEL.fullmatch(word))
            for word in words
        )
