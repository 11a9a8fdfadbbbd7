"""Works with positions in a text: those that must be hidden, those that are covered, and overlaps of intervals."""

import re
from collections.abc import Iterable

from gateway.evaluation.loader import Interval

_WORD = re.compile(r"\w+")
_INSIGNIFICANT = frozenset(
    "mr mrs ms miss dr prof sir the a an of in on at and to for from between by no nos".split(),
)


def significant(text: str, start: int, end: int) -> set[int]:
    """Returns the positions in `text[start:end]` that must be hidden.

    They are those of all words except titles and function words, which reveal nothing; or, if there is no other word,
    those of all letters and digits.
    """
    words = (match for match in _WORD.finditer(text, start, end) if match[0].lower() not in _INSIGNIFICANT)
    positions = {at for match in words for at in range(*match.span())}
    return positions or {at for at in range(start, end) if text[at].isalnum()}


def covered(intervals: Iterable[Interval]) -> set[int]:
    """Returns every position in any of the intervals."""
    return {at for start, end in intervals for at in range(start, end)}


def overlap(intervals: Iterable[Interval], other: Interval) -> bool:
    """Whether any of the intervals overlaps `other`."""
    return any(start < other[1] and other[0] < end for start, end in intervals)
