"""Tokenizes text for the built-in model, as the tokenizer library does from `tokenizer.json` (BERT's, WordPiece).

Words are looked up in the vocabulary and in nothing that grows: a cache would show in time what others have sent.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from gateway.detection.ner.characters import Characters
from gateway.detection.ner.features import ADJACENT, GAPS, NEW_LINE, SPACED, case_class, token_types

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
        """Tokenizes a text."""
        if self._marker.search(text) is None:
            folded, places = self._characters.fold(text)
            if places is None:
                return self._encode_in_place(text, folded)
            ids, offsets = self._encode_moved(folded, places)
        else:
            ids, offsets = self._encode_with_markers(text)
        return ids, token_types(text, offsets), offsets

    def _encode_in_place(self, text: str, folded: str) -> Encoded:
        """Tokenizes a text whose folded characters are where they were, as most are."""
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
                for piece, first, last in self._pieces(word):
                    ids.append(piece)
                    types.append(GAPS * case_class(text[start + first : start + last]) + gap)
                    offsets.append((start + first, start + last))
                    gap = ADJACENT
                continue
            written = text[start:end]
            ids.append(id)
            types.append(GAPS * (1 if written.isalpha() and written.islower() else case_class(written)) + gap)
            offsets.append(span)
        return ids, types, offsets

    def _encode_moved(self, folded: str, places: Sequence[int]) -> tuple[list[int], list[tuple[int, int]]]:
        """Tokenizes a folded text whose characters were in other `places`. Returns ids and offsets."""
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        begins = self._begins
        for found in self._words.finditer(folded):
            start, end = found.span()
            id = begins.get(found[0])
            if id is not None:
                ids.append(id)
                offsets.append((places[start], places[end - 1] + 1))
                continue
            for piece, first, last in self._pieces(found[0]):
                ids.append(piece)
                offsets.append((places[start + first], places[start + last - 1] + 1))
        return ids, offsets

    def _encode_with_markers(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Tokenizes a text in which special tokens are written out: they are tokens as well."""
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        begin = 0
        for marker in (*self._marker.finditer(text), None):
            end = marker.start() if marker else len(text)
            folded, places = self._characters.fold(text[begin:end])
            some, spans = self._encode_moved(folded, places if places is not None else range(end - begin))
            ids += some
            offsets += [(begin + start, begin + stop) for start, stop in spans]
            if marker:
                ids.append(self._added[marker[0]])
                offsets.append(marker.span())
                begin = marker.end()
        return ids, offsets

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
