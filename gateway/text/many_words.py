"""Counts many words in a text in one pass (Aho and Corasick, Communications of the ACM, 1975)."""

from collections import Counter
from collections.abc import Iterable

from ahocorasick_rs import BytesAhoCorasick, Implementation

LONGEST = 32
"""Bytes of a word that are searched for."""
_STRETCH = 4096
"""Bytes that are searched at once, and how many words may be found in them."""

# Words and bytes, up to which to search for each takes less time than to build an automaton.
_FEW, _SHORT = 16, 3000


class ManyWords:
    """The first `LONGEST` bytes of words, searched for also within and across others. Its repr shows none of them."""

    __slots__ = ("_groups", "_new")

    def __init__(self, words: Iterable[bytes] = ()) -> None:
        # Each has more words than the next, so that a word that is added has few automata built anew
        # (Bentley and Saxe, Journal of Algorithms, 1980).
        self._groups: list[tuple[list[bytes], BytesAhoCorasick]] = []
        self._new: list[bytes] = []
        for word in dict.fromkeys(word[:LONGEST] for word in words):
            self.add(word)

    def add(self, word: bytes) -> None:
        """Adds a word that is not among them, of at most `LONGEST` bytes."""
        self._new.append(word)

    def count(self, text: bytes) -> Counter[bytes] | None:
        """Returns how often each word is in a text; None if there are so many that counting takes too long."""
        found = Counter[bytes]()
        if len(self._new) > _FEW or len(text) > _SHORT:
            self._build()
        for word in self._new:
            at = text.find(word)
            while at >= 0:
                found[word] += 1
                at = text.find(word, at + 1)
        for words, automaton in self._groups:
            for start in range(0, len(text), _STRETCH):
                some = automaton.find_matches_as_indexes(text[start : start + _STRETCH + LONGEST - 1], True)
                if len(some) > _STRETCH:
                    return None
                found.update(words[number] for number, first, _ in some if first < _STRETCH)
        return found

    def _build(self) -> None:
        if not self._new:
            return
        words, self._new = self._new, []
        while self._groups and len(self._groups[-1][0]) <= len(words):
            words = self._groups.pop()[0] + words
        # A DFA takes several times as long to build.
        self._groups.append((words, BytesAhoCorasick(words, implementation=Implementation.ContiguousNFA)))
