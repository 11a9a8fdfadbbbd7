"""Decides which tokens the transformer reads after the student: those about which the student is in doubt.

A student (training/student.py) reads every token. Where its probabilities are clear, they are the result. The rest,
with context around it, goes to the transformer, which takes twenty times as long per token.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.windows import LENGTH, Window, windows

REACH = sum((1, 2, 4, 8, 2, 1))
"""Tokens on either side that affect the student's result for a token (training/student.py)."""
STUDENT_LENGTH = 320
"""Tokens in a window of the student. More would not fit into the processor's cache."""
_AROUND = 3
"""Tokens next to a doubtful one that the transformer decides, too."""
_MAX_GAP = 12
"""Clear tokens between two doubtful ones that are read together."""
_CONTEXT = 48
"""Tokens of context on either side of what the transformer decides."""
_ROOM = LENGTH - 2

type Chances = NDArray[np.float32]
type Flags = NDArray[np.bool_]


class Doubt(NamedTuple):
    """The probabilities of a type between which a token is doubtful, given that its likeliest class has less than
    `sure`.
    """

    some: float
    sure: float


STRICT = Doubt(some=0.02, sure=0.97)
LOOSE = Doubt(some=0.04, sure=0.95)
"""For places and organizations, which the policies hide less often."""


def doubtful(chances: Chances, loose: Sequence[int]) -> Flags:
    """Returns which tokens are doubtful, given the student's probabilities `[tokens, classes]`.

    Class 0 is none; `loose` are the classes of places and organizations.
    """
    best = chances.max(axis=1)
    places = chances[:, loose].sum(axis=1)
    others = 1 - chances[:, 0] - places
    result: Flags = ((others > STRICT.some) & (best < STRICT.sure)) | ((places > LOOSE.some) & (best < LOOSE.sure))
    return result


def second_readings(doubts: Flags, named: Flags) -> Iterator[Window]:
    """Yields what the transformer reads; `named` are the tokens that the student takes for part of an entity.

    Parts that are decided anew are disjoint, and none ends within an entity of the student's.
    """
    for first, last in _regions(doubts, named):
        start, end = max(0, first - _CONTEXT), min(len(doubts), last + _CONTEXT)
        if end - start > _ROOM and last - first <= _ROOM:
            start = max(0, min(first - (_ROOM - (last - first)) // 2, end - _ROOM))
            end = min(len(doubts), start + _ROOM)
        for window in windows(end - start):
            kept_first, kept_last = max(first, start + window.kept_first), min(last, start + window.kept_last)
            if kept_first < kept_last:
                yield Window(start + window.first, start + window.last, kept_first, kept_last)


def _regions(doubts: Flags, named: Flags) -> Iterator[tuple[int, int]]:
    """Yields runs of doubtful tokens with what is near and the entities that they touch; disjoint, in order."""
    places = np.flatnonzero(doubts)
    if not len(places):
        return
    cuts = np.flatnonzero(np.diff(places) > _MAX_GAP) + 1
    region: tuple[int, int] | None = None
    for run in np.split(places, cuts):
        first, last = _widened(max(0, int(run[0]) - _AROUND), min(len(named), int(run[-1]) + 1 + _AROUND), named)
        if region is not None and first <= region[1]:
            first, last = region[0], max(region[1], last)
        elif region is not None:
            yield region
        region = first, last
    if region is not None:
        yield region


def _widened(first: int, last: int, named: Flags) -> tuple[int, int]:
    """Widens a region to the whole of the entities at its ends."""
    while 0 < first < len(named) and named[first] and named[first - 1]:
        first -= 1
    while 0 < last < len(named) and named[last] and named[last - 1]:
        last += 1
    return first, last
