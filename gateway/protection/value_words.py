"""Tells which of many values may be in a text, in one pass for the words of all.

However a value is spelled, its words stay whole; and where it is not shortened, as names and secrets are, so does the
longest of them. Words are searched for in the letters and digits of a text, so that no separator hides one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gateway.detection.normalized_text import normalize_text, plain_text
from gateway.protection.value_index import SHORTEST, has_parts, letters_and_digits, lower, words_of
from gateway.text.many_words import LONGEST, ManyWords

type Value = tuple[str, str]
"""A value and its type."""


class _Spelling(NamedTuple):
    plain: bytes
    """The letters and digits."""
    clues: frozenset[bytes]
    """Words of which one is in each occurrence, of parts as well."""
    pair: tuple[bytes, ...]
    """The words of a person's name, if there are two."""


class _Words(NamedTuple):
    spellings: tuple[_Spelling, ...]
    """None of a value that may be anywhere."""
    alone: tuple[bytes, ...]
    """Words that may also stand for the value on their own."""
    signed: str
    """The value in lower case, if it begins or ends with a sign."""

    def clues(self) -> set[bytes]:
        """Returns words of which one is in every text that has the value; none if it may be anywhere."""
        return {clue for each in self.spellings for clue in each.clues}.union(self.alone)


class ValueWords:
    """The words of values. Its repr shows none of them."""

    __slots__ = ("_holders", "_search", "_values")

    def __init__(self) -> None:
        self._values: dict[Value, _Words] = {}
        # The values of each clue; of none are those that may be anywhere.
        self._holders: dict[bytes, list[Value]] = {b"": []}
        self._search = ManyWords()

    def add(self, value: Value) -> None:
        """Adds a value, at most once."""
        self._values[value] = words = _words(*value)
        for clue in words.clues() or (b"",):
            if clue not in self._holders:
                self._holders[clue] = []
                self._search.add(clue)
            self._holders[clue].append(value)

    def counts(self, data: bytes) -> Counter[bytes] | None:
        """Returns how often each clue is in letters and digits; None if there are too many to be counted."""
        return self._search.count(data)

    def within(self, clues: Iterable[bytes]) -> set[Value]:
        """Returns the values that may be in a text with these clues."""
        return {value for clue in (b"", *clues) for value in self._holders[clue]}

    def elsewhere(self, values: Iterable[Value], clues: Counter[bytes], stretches: Sequence[str]) -> list[Value]:
        """Returns the values that may be in a text outside stretches of it, or partly outside.

        `clues` are those in the text, and `stretches` are in lower case and do not overlap. This takes a fraction of
        the time of indexing the values, most of which occur once.
        """
        hidden = [*map(letters_and_digits, stretches)]
        data, same = b" ".join(hidden), Counter(stretches)
        inside = self.counts(data)
        if inside is None:
            return [*values]

        def is_between_others(clue: bytes, first: bytes, last: bytes) -> bool:
            """Whether the clue is in stretches alone, of which none may go on as the name of two words does."""
            edges = (each.startswith(last) or each.endswith(first) for each in hidden)
            return clues[clue] == inside[clue] and not any(edges)

        def is_elsewhere(words: _Words) -> bool:
            for plain, some, pair in words.spellings:
                # Each clue in the text is that of a whole value in a stretch, or of a name that shares it.
                wholes = same[words.signed] if words.signed else data.count(plain)
                for clue in some:
                    if clues[clue] != wholes * plain.count(clue) and not (pair and is_between_others(clue, *pair)):
                        return True
            return not words.spellings or any(clues[word] != inside[word] for word in words.alone)

        return [value for value in values if is_elsewhere(self._values[value])]


def _words(value: str, kind: str) -> _Words:
    parts = has_parts(value, kind)
    if value.isascii():
        texts: Iterable[str] = (value,)
    elif parts:
        texts = ()  # a part may be of other signs alone
    else:
        texts = dict.fromkeys((value, plain_text(normalize_text(value))))
    spellings: list[_Spelling] = []
    alone: list[bytes] = []
    for text in texts:
        if words := words_of(text):
            clues = words if parts else (max(words, key=len),)
            is_pair = kind == "PERSON" and not parts and len(words) == 2
            if kind == "PERSON":
                alone += [word for word in (words[0], words[-1]) if len(word) >= SHORTEST]
            plain = letters_and_digits(lower(text))
            spellings.append(
                _Spelling(plain, frozenset(clue[:LONGEST] for clue in clues), tuple(words) if is_pair else ())
            )
    if any(len(word) > LONGEST for word in alone):
        spellings, alone = [], []
    return _Words(tuple(spellings), tuple(alone), "" if value[0].isalnum() and value[-1].isalnum() else lower(value))
