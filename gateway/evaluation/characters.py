"""Which characters count: of a labelled span its words, of a text its letters and digits.

"Mr" and "the" inside a labelled name tell nothing, so they need not be hidden.
"""

import re
from collections.abc import Iterable

from gateway.evaluation.loader import Interval

_WORD = re.compile(r"\w+")
_TELL_NOTHING = frozenset(
    "mr mrs ms miss dr prof sir the a an of in on at and to for from between by no nos".split(),
)


def telling(text: str, start: int, end: int) -> set[int]:
    """The positions in `text[start:end]` that have to be hidden: of all words but titles and function words, or
    else of all letters and digits.
    """
    words = (match for match in _WORD.finditer(text, start, end) if match[0].lower() not in _TELL_NOTHING)
    positions = {at for match in words for at in range(*match.span())}
    return positions or {at for at in range(start, end) if text[at].isalnum()}


def covered(intervals: Iterable[Interval]) -> set[int]:
    """Every position in any of the intervals."""
    return {at for start, end in intervals for at in range(start, end)}


def share(intervals: Iterable[Interval], other: Interval) -> bool:
    """Whether any of the intervals has a character in common with `other`."""
    return any(start < other[1] and other[0] < end for start, end in intervals)
