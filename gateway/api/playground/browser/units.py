"""Reads units as gateway/detection/ner/units.py does, without numpy: one by one, since texts here are short."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from gateway.detection.ner.ordinary_words import WordList
from gateway.detection.ner.unit_features import (
    BEYOND,
    BREAK,
    CASES,
    FIRST_LETTER,
    FIRST_ROW,
    GAPS,
    HALF,
    IDEOGRAPHS_BEYOND,
    LENGTH_CLASSES,
    LENGTHS,
    LISTS,
    MARK,
    OTHER_HALF,
    PRIME,
    SHIFTS,
    SIGN,
    SPACE,
    STEM,
    STYLED,
    UNSPACED,
    UPPER,
    WHITE,
    kind,
    lowercase,
    plain,
)

_ALL = (1 << 64) - 1
_BEFORE = "\n\0\n"
"""Precedes the text, as in units.py."""


class Units(NamedTuple):
    """The units of a text: where each starts and ends, and the rows of all their features, one after the other."""

    offsets: list[tuple[int, int]]
    rows: list[int]


class UnitReader:
    """Reads units; the words of `ordinary` and `given` are told apart."""

    def __init__(self, ordinary: WordList, given: WordList) -> None:
        self._ordinary, self._given = ordinary, given

    def read(self, text: str) -> Units:
        """Returns the units of a text."""
        chars = [plain(char) if ord(char) in STYLED else char for char in _BEFORE + text]
        classes = [*map(_class, chars)]
        kinds = [kind for kind, _ in classes]
        lower = [code for _, code in classes]
        offsets: list[tuple[int, int]] = []
        rows: list[int] = []
        (_, before), *bounds = _bounds(chars, kinds)
        for start, end in bounds:
            offsets.append((start - len(_BEFORE), end - len(_BEFORE)))
            for name, value in zip(FIRST_ROW, _hashes(lower, kinds, start, end), strict=False):
                rows.append(FIRST_ROW[name] + ((value * PRIME & _ALL) >> SHIFTS[name]))
            rows.append(FIRST_ROW["form"] + self._form(lower, kinds, before, start, end))
            before = end
        return Units(offsets, rows)

    def _form(self, lower: Sequence[int], kinds: Sequence[int], before: int, start: int, end: int) -> int:
        length = end - start
        upper = kinds[start:end].count(UPPER)
        case = CASES[kinds[start]][1 + (upper == 1) + 2 * (upper == length) if upper else 0]
        lists = 0
        if kinds[start] != SIGN:
            word = "".join(chr(code - 1) for code in lower[start:end])
            lists = (word in self._ordinary) + 2 * (word in self._given)
        lines = kinds[before:start].count(BREAK)
        gap = WHITE[min(start - before, 2)][min(lines, 2)][kinds[start - 1] == SPACE]
        return ((case * LENGTHS + LENGTH_CLASSES[min(length, len(LENGTH_CLASSES) - 1)]) * LISTS + lists) * GAPS + gap


def _bounds(chars: Sequence[str], kinds: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields where units start and end."""
    start, group = 0, BREAK
    for at, own in enumerate(kinds):
        if own == MARK and at:
            continue  # belongs to the character before it
        other = FIRST_LETTER if own >= FIRST_LETTER else own
        if other != group or (other == SIGN and chars[at] != chars[at - 1]) or other == UNSPACED:
            if group > BREAK:
                yield start, at
            start, group = at, other
    if group > BREAK:
        yield start, len(kinds)


def _hashes(lower: Sequence[int], kinds: Sequence[int], start: int, end: int) -> tuple[int, ...]:
    """Returns the hashes of a unit's features, without its form, in order."""
    length = end - start
    first, second, third = (*lower[start : min(end, start + 3)], 0, 0)[:3]
    last, before, earlier = (*reversed(lower[max(start, end - 3) : end]), 0, 0)[:3]
    around, ending = 0, before
    if kinds[start] == UNSPACED:
        # Its neighbours replace prefix, suffix and stem.
        second = lower[end] if end < len(kinds) and kinds[end] == UNSPACED else 0
        before = lower[start - 1] if kinds[start - 1] == UNSPACED else 0
        around, ending = second + before, 0
    word, stem = _whole(lower, start, length), _whole(lower, start, min(length, STEM))
    return (
        word,
        _mixed(stem, around),
        _mixed(first, second, third),
        _mixed(last, before, earlier),
        _mixed(last, ending),
    )


def _whole(lower: Sequence[int], start: int, length: int) -> int:
    result = 0
    for at in range(start + length - 1, start - 1, -1):
        result = (result * PRIME + lower[at]) & _ALL
    return result


def _mixed(result: int, *parts: int) -> int:
    for part in parts:
        result = ((result ^ (result >> HALF)) * PRIME + part) & _ALL
    return result ^ (result >> OTHER_HALF)


@cache
def _class(char: str) -> tuple[int, int]:
    """Returns the kind of a character, and its code point in lower case plus one."""
    code = ord(char)
    if code < BEYOND:
        return kind(char), lowercase(char)
    return UNSPACED if code in IDEOGRAPHS_BEYOND else SIGN, code + 1
