"""Tokenizes Western text for the built-in model, twice as fast as the tokenizer library.

The result is that of the library (`tokenizer.json`: BERT's normalization, WordPiece), which reads all other text. Words
are looked up in the vocabulary and in nothing that grows: a cache would show in time what others have sent.
"""

import json
import re
import unicodedata
from pathlib import Path

from gateway.detection.ner.features import ADJACENT, GAPS, NEW_LINE, SPACED, case_class

# Latin, Greek, Cyrillic; punctuation, currencies, arrows, symbols, emoji.
_PLAIN = [
    *(range(0x20, 0x7F), range(0xA0, 0x2B0), range(0x370, 0x530), range(0x1E00, 0x1F00), range(0x2010, 0x2028)),
    *(range(0x2030, 0x205E), range(0x20A0, 0x20C0), range(0x2100, 0x2800), range(0x1F300, 0x1FAF0)),
]
_NOT_PLAIN = frozenset({"Cf", "Cn", "Mn", "Me"})
_LINE_BREAKS = "\t\n\r"
_MAX_LENGTH = 100
_UNKNOWN, _FIRST, _LAST = "[UNK]", "[CLS]", "[SEP]"


def _normalized(char: str) -> str:
    """Without marks, in lower case, as BERT's normalizer does it."""
    return "".join(one for one in unicodedata.normalize("NFD", char) if unicodedata.category(one) != "Mn").lower()


def is_punctuation(char: str) -> bool:
    """Returns whether BERT's tokenizer takes a character for a word of its own."""
    return unicodedata.category(char).startswith("P") or (char.isascii() and not char.isalnum() and not char.isspace())


class WordPieces:
    """Reads the vocabulary of a tokenizer file."""

    def __init__(self, file: Path) -> None:
        stored = json.loads(file.read_text("utf-8"))
        vocabulary: dict[str, int] = stored["model"]["vocab"]
        self._begins = {piece: id for piece, id in vocabulary.items() if not piece.startswith("##")}
        self._inside = {piece[2:]: id for piece, id in vocabulary.items() if piece.startswith("##")}
        self.unknown = vocabulary[_UNKNOWN]
        self.special = [vocabulary[_FIRST]], [vocabulary[_LAST]]
        self._longest = max(map(len, vocabulary))
        # Characters that stay one character, so that offsets stay as they are.
        chars = (chr(code) for block in _PLAIN for code in block)
        folded = {char: _normalized(char) for char in chars if unicodedata.category(char) not in _NOT_PLAIN}
        folded = {char: to for char, to in folded.items() if len(to) == 1 and (to == char or char.isalpha())}
        self._fold = str.maketrans({char: to for char, to in folded.items() if char != to})
        spaces = "".join(char for char in folded if char.isspace()) + _LINE_BREAKS
        marks = "".join(char for char in folded if is_punctuation(char))
        known = re.escape("".join(folded) + _LINE_BREAKS)
        special = "|".join(re.escape(one["content"]) for one in stored["added_tokens"])
        self._other = re.compile(rf"[^{known}]|{special}")
        self._words = re.compile(rf"[{re.escape(marks)}]|[^{re.escape(marks + spaces)}]+")

    def encode(self, text: str) -> tuple[list[int], list[int], list[tuple[int, int]]] | None:
        """Returns ids, token types (features.py) and offsets; None if the library must read the text."""
        if self._other.search(text):
            return None
        folded = text.lower() if text.isascii() else text.translate(self._fold)
        ids: list[int] = []
        types: list[int] = []
        offsets: list[tuple[int, int]] = []
        begins = self._begins
        previous = -1
        for found in self._words.finditer(folded):
            word = found[0]
            span = start, end = found.span()
            if start == previous:
                gap = ADJACENT
            elif previous < 0 or "\n" in text[previous:start]:
                gap = NEW_LINE
            else:
                gap = SPACED
            previous = end
            id = begins.get(word)
            if id is None:
                self._split(text, word, start, gap, ids, types, offsets)
                continue
            written = text[start:end]
            ids.append(id)
            types.append(GAPS * (1 if written == word and word.isalpha() else case_class(written)) + gap)
            offsets.append(span)
        return ids, types, offsets

    def _split(
        self,
        text: str,
        word: str,
        start: int,
        gap: int,
        ids: list[int],
        types: list[int],
        offsets: list[tuple[int, int]],
    ) -> None:
        """Appends the pieces of a word, each the longest that the vocabulary has."""
        for id, first, last in self._pieces(word):
            ids.append(id)
            types.append(GAPS * case_class(text[start + first : start + last]) + gap)
            offsets.append((start + first, start + last))
            gap = ADJACENT

    def _pieces(self, word: str) -> list[tuple[int, int, int]]:
        unknown = [(self.unknown, 0, len(word))]
        if len(word) > _MAX_LENGTH:
            return unknown
        pieces: list[tuple[int, int, int]] = []
        first, known = 0, self._begins
        while first < len(word):
            last = min(len(word), first + self._longest)
            while last > first and (id := known.get(word[first:last])) is None:
                last -= 1
            if last == first:
                return unknown
            pieces.append((id, first, last))  # type: ignore[arg-type]
            first, known = last, self._inside
        return pieces
