"""Finds words as ahocorasick_rs does, by one search for each: texts of the playground are short."""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any


class Implementation(Enum):
    ContiguousNFA = 1


class BytesAhoCorasick:
    """Finds many words in a text."""

    def __init__(self, words: Sequence[bytes], **_: Any) -> None:
        self._words = words

    def find_matches_as_indexes(self, text: bytes, overlapping: bool = False) -> list[tuple[int, int, int]]:
        if not overlapping:
            raise NotImplementedError
        return sorted(self._found(text), key=lambda one: (one[2], one[1]))

    def _found(self, text: bytes) -> Iterator[tuple[int, int, int]]:
        for number, word in enumerate(self._words):
            at = text.find(word)
            while at >= 0:
                yield number, at, at + len(word)
                at = text.find(word, at + 1)
