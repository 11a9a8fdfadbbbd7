"""Decides which tokens the transformer reads after the student: those about which the student is in doubt.

A student (training/student.py) reads every token. Where its probabilities are clear, they are the result. The rest,
with context around it, goes to the transformer, which takes twenty times as long per token.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.windows import LENGTH, Window, windows

REACH = 18
"""Tokens on either side that affect the student's result for a token (training/student.py)."""
_AROUND = 3
"""Tokens next to a doubtful one that the transformer decides, too."""
_CONTEXT, _LEAST_CONTEXT = 32, 12
"""Tokens of context on either side of what the transformer decides, and how few they may become in a full window."""
_ROOM = LENGTH - 2

type Chances = NDArray[np.float32]
type Flags = NDArray[np.bool_]


class Doubt(NamedTuple):
    """When a token is doubtful: at which probability of an entity where none is likeliest, and below which probability
    of the entity that is.
    """

    some: float
    sure: float


STRICT = Doubt(some=0.005, sure=0.9)
LOOSE = Doubt(some=0.03, sure=0.8)
"""For places and organizations, which the policies hide less often."""


def doubtful(chances: Chances, loose: Sequence[int]) -> Flags:
    """Returns which tokens are doubtful, given the student's probabilities `[tokens, classes]`.

    Class 0 is none; `loose` are the classes of places and organizations.
    """
    best, places = chances.argmax(axis=1), chances[:, loose].sum(axis=1)
    others = 1 - chances[:, 0] - places
    sure = np.where(np.isin(best, loose), LOOSE.sure, STRICT.sure)
    result: Flags = np.where(
        best == 0, (others > STRICT.some) | (places > LOOSE.some), chances[np.arange(len(best)), best] < sure
    )
    return result


def near_named(named: Flags) -> Flags:
    """Returns which tokens are, or stand next to, one that the student takes for part of an entity."""
    near = named.copy()
    for step in range(1, _AROUND + 1):
        near[step:] |= named[:-step]
        near[:-step] |= named[step:]
    return near


def second_readings(doubts: Flags, named: Flags) -> list[Window]:
    """Returns what the transformer reads; `named` are the tokens that the student takes for part of an entity.

    Parts that are decided anew are disjoint, and none ends within an entity of the student's.
    """
    count = len(doubts)
    some = [window for first, last in _groups(doubts, named) for window in _with_context(first, last, count)]
    if sum(map(_cost, some)) < count:
        return some
    everything = list(windows(count))
    return min(some, everything, key=lambda readings: sum(map(_cost, readings)))


def _cost(window: Window) -> int:
    return window.last - window.first


def _with_context(first: int, last: int, count: int) -> Iterator[Window]:
    """Yields the windows that decide `first:last`."""
    context = max(_LEAST_CONTEXT, min(_CONTEXT, (_ROOM - (last - first)) // 2))
    start, end = max(0, first - context), min(count, last + context)
    for window in windows(end - start):
        kept_first, kept_last = max(first, start + window.kept_first), min(last, start + window.kept_last)
        if kept_first < kept_last:
            yield Window(start + window.first, start + window.last, kept_first, kept_last)


def _groups(doubts: Flags, named: Flags) -> Iterator[tuple[int, int]]:
    """Yields regions that fit into one window together, since it takes less time than two."""
    group: tuple[int, int] | None = None
    for first, last in _regions(doubts, named):
        if group is not None and last - group[0] <= _ROOM - 2 * _LEAST_CONTEXT:
            group = group[0], last
            continue
        if group is not None:
            yield group
        group = first, last
    if group is not None:
        yield group


def _regions(doubts: Flags, named: Flags) -> Iterator[tuple[int, int]]:
    """Yields doubtful tokens with their neighbours and the entities that they touch; disjoint, in order."""
    region: tuple[int, int] | None = None
    for place in np.flatnonzero(doubts).tolist():
        if region is not None and place + _AROUND < region[1]:
            continue
        first, last = _widened(max(0, place - _AROUND), min(len(named), place + 1 + _AROUND), named)
        if region is not None and first <= region[1]:
            region = region[0], last
            continue
        if region is not None:
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
