"""Tells which of many values may be in a text, in one pass for the words of all.

However a value is spelled, its words stay whole; and where it is not shortened, as names and secrets are, so does the
longest of them. Words are searched for in the letters and digits of a text, so that no separator hides one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from gateway.detection.normalized_text import normalize_text, plain_text
from gateway.protection.name_spellings import SHORTEST, respelled
from gateway.protection.value_index import has_parts, letters_and_digits, lower, words_of
from gateway.text.many_words import LONGEST, ManyWords

# Words that are searched for one by one in less time than that of one pass over all.
_FEW = 64

type Value = tuple[str, str]
"""A value and its type."""


class _Spelling(NamedTuple):
    plain: bytes
    """The letters and digits."""
    clues: frozenset[bytes]
    """Words of which one is in each occurrence, of parts as well."""
    pair: tuple[bytes, ...]
    """The words of a person's name, if there are two, neither of them short."""


class _Words(NamedTuple):
    spellings: tuple[_Spelling, ...]
    """None of a value that may be anywhere."""
    alone: tuple[bytes, ...]
    """Words that may also stand for the value on their own."""
    signed: str
    """The value in lower case, if it begins or ends with a sign."""


class ValueWords:
    """The words of values. Its repr shows none of them."""

    __slots__ = ("_holders", "_search")

    def __init__(self) -> None:
        # The values of each clue; of none are those that may be anywhere.
        self._holders: dict[bytes, list[Value]] = {b"": []}
        self._search = ManyWords()

    def add(self, value: Value) -> None:
        """Adds a value, at most once."""
        for clue in _clues(*value) or (b"",):
            if clue not in self._holders:
                self._holders[clue] = []
                self._search.add(clue)
            self._holders[clue].append(value)

    def any_in(self, data: bytes) -> bool:
        """Returns whether any value may be in a text with these letters and digits."""
        if len(self._holders) <= _FEW:
            return bool(self._holders[b""]) or any(clue in data for clue in self._holders if clue)
        found = self.counts(data)
        return found is None or bool(self.within(found))

    def counts(self, data: bytes) -> Counter[bytes] | None:
        """Returns how often each clue is in letters and digits; None if there are too many to be counted."""
        return self._search.count(data)

    def within(self, clues: Iterable[bytes]) -> set[Value]:
        """Returns the values that may be in a text with these clues."""
        return {value for clue in (b"", *clues) for value in self._holders[clue]}

    def elsewhere(self, values: Collection[Value], clues: Counter[bytes], stretches: Sequence[str]) -> list[Value]:
        """Returns the values that may be in a text outside stretches of it, or partly outside.

        `clues` are those in the text, and `stretches` are in lower case and do not overlap. Most values occur once, and
        need not be indexed then.
        """
        hidden = [*map(letters_and_digits, stretches)]
        inside = self.counts(b" ".join(hidden))
        if inside is None:
            return [*values]
        whole, signed = Counter(hidden), Counter(stretches)
        words_of_values = [_words(*value) for value in values]
        pairs = [each.pair for words in words_of_values for each in words.spellings if each.pair]
        opening = {each[:size] for size in {len(last) for _, last in pairs} for each in hidden}
        closing = {each[-size:] for size in {len(first) for first, _ in pairs} for each in hidden}

        def is_shared(clue: bytes, first: bytes, last: bytes) -> bool:
            """Whether a clue of `first last` is in stretches alone, where other words are beside it."""
            return clues[clue] == inside[clue] and last not in opening and first not in closing

        def is_elsewhere(words: _Words) -> bool:
            for plain, some, pair in words.spellings:
                count = signed[words.signed] if words.signed else whole[plain]
                for clue in some:
                    # If a value has the clue twice, the end and the beginning may be another one.
                    is_whole = clues[clue] == count and plain.count(clue) == 1
                    if not is_whole and not (pair and is_shared(clue, *pair)):
                        return True
            return not words.spellings or any(clues[word] != inside[word] for word in words.alone)

        return [value for value, words in zip(values, words_of_values, strict=True) if is_elsewhere(words)]


def may_be_whole(value: str, kind: str, data: bytes) -> bool:
    """Returns whether a text with these letters and digits may hold all of a value without tags between its words."""
    is_spelled_otherwise = kind == "PERSON" or not value.isascii() or has_parts(value, kind)
    return is_spelled_otherwise or letters_and_digits(lower(value)) in data


def _clues(value: str, kind: str) -> set[bytes]:
    """Returns words of which one is in every text that has the value; none if it may be anywhere."""
    if value.isascii() and not has_parts(value, kind):
        # Most values, and few of them are asked for more than this.
        words = words_of(value)
        ends = _ends(words, kind)
        if not words or any(len(word) > LONGEST for word in ends):
            return set()
        return {max(words, key=len)[:LONGEST], *ends}
    spelled = _words(value, kind)
    return {clue for each in spelled.spellings for clue in each.clues}.union(spelled.alone)


def _ends(words: Sequence[bytes], kind: str) -> list[bytes]:
    """Returns the first and the last word of a person's name, but for short ones."""
    return [word for word in (words[0], words[-1]) if len(word) >= SHORTEST] if words and kind == "PERSON" else []


def _words(value: str, kind: str) -> _Words:
    signed = "" if value[0].isalnum() and value[-1].isalnum() else lower(value)
    parts = has_parts(value, kind)
    if value.isascii():
        texts: Iterable[str] = (value,)
    elif parts:
        texts = ()  # a part may be of other signs alone
    else:
        shown = plain_text(normalize_text(value))
        texts = dict.fromkeys((value, shown, *(respelled(shown) if kind == "PERSON" else ())))
    spellings: list[_Spelling] = []
    alone: list[bytes] = []
    for text in texts:
        if not (words := words_of(text)):
            continue
        clues = words if parts else [max(words, key=len)]
        ends = _ends(words, kind)
        if any(len(word) > LONGEST for word in ends):
            return _Words((), (), signed)
        # Both words are searched for, so that a stretch that begins or ends within one shows.
        is_pair = not parts and not signed and len(words) == len(ends) == 2
        plain = b"".join(words) if text.isascii() else letters_and_digits(lower(text))
        spellings.append(_Spelling(plain, frozenset(clue[:LONGEST] for clue in clues), tuple(ends) if is_pair else ()))
        alone += ends
    return _Words(tuple(spellings), tuple(alone), signed)
