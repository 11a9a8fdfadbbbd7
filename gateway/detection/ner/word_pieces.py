"""Tokenizes text for the built-in model, as the tokenizer library does from `tokenizer.json` (BERT's, WordPiece).

Words are looked up in the vocabulary and in nothing that grows: a cache would show in time what others have sent.
"""

import json
import re
from pathlib import Path

from gateway.detection.ner.characters import Characters
from gateway.detection.ner.features import token_types

_MAX_LENGTH = 100
_UNKNOWN, _FIRST, _LAST = "[UNK]", "[CLS]", "[SEP]"

type Encoded = tuple[list[int], list[int], list[tuple[int, int]]]
"""Ids, token types (features.py) and offsets."""


class WordPieces:
    """Reads the vocabulary of a tokenizer file, and the file of characters."""

    def __init__(self, tokenizer: Path, characters: Path) -> None:
        stored = json.loads(tokenizer.read_text("utf-8"))
        vocabulary: dict[str, int] = stored["model"]["vocab"]
        self._begins = {piece: id for piece, id in vocabulary.items() if not piece.startswith("##")}
        self._inside = {piece[2:]: id for piece, id in vocabulary.items() if piece.startswith("##")}
        self.unknown = vocabulary[_UNKNOWN]
        self.special = [vocabulary[_FIRST]], [vocabulary[_LAST]]
        # By the first character.
        self._longest: dict[str, int] = {}
        for piece in (*self._begins, *self._inside):
            self._longest[piece[0]] = max(self._longest.get(piece[0], 0), len(piece))
        self._characters = Characters(characters)
        self._added = {one["content"]: one["id"] for one in stored["added_tokens"]}
        self._marker = re.compile("|".join(map(re.escape, self._added)))
        alone, spaces = self._characters.alone, self._characters.spaces
        self._words = re.compile(f"[{alone}]|[^{alone}{spaces}]+")

    def encode(self, text: str) -> Encoded:
        """Tokenizes a text. Special tokens that are written out are tokens as well."""
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        begin = 0
        for marker in (*self._marker.finditer(text), None):
            own, spans = self._encode(text[begin : marker.start() if marker else None])
            ids += own
            offsets += [(begin + start, begin + end) for start, end in spans] if begin else spans
            if marker:
                ids.append(self._added[marker[0]])
                offsets.append(marker.span())
                begin = marker.end()
        return ids, token_types(text, offsets), offsets

    def _encode(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Returns ids and offsets of a text without special tokens."""
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        begins = self._begins
        folded, places = self._characters.fold(text)
        for found in self._words.finditer(folded):
            id = begins.get(found[0])
            if id is not None:
                ids.append(id)
                spans.append(found.span())
                continue
            start = found.start()
            for piece, first, last in self._pieces(found[0]):
                ids.append(piece)
                spans.append((start + first, start + last))
        if places is not None:
            spans = [(places[start], places[end - 1] + 1) for start, end in spans]
        return ids, spans

    def _pieces(self, word: str) -> list[tuple[int, int, int]]:
        """Returns the pieces of a word, each the longest that the vocabulary has."""
        unknown = [(self.unknown, 0, len(word))]
        if len(word) > _MAX_LENGTH:
            return unknown
        pieces: list[tuple[int, int, int]] = []
        first, known = 0, self._begins
        while first < len(word):
            last = min(len(word), first + self._longest.get(word[first], 0))
            while last > first and (id := known.get(word[first:last])) is None:
                last -= 1
            if last == first:
                return unknown
            pieces.append((id, first, last))  # type: ignore[arg-type]
            first, known = last, self._inside
        return pieces
