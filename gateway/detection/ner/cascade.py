"""Decides which units the transformer reads after the student: those about which the student is in doubt.

A student (training/student.py) reads every unit. Where its probabilities are clear, they are the result. The rest, with
context around it, goes to the transformer, which takes many times as long.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.engine import Window
from gateway.detection.ner.inference import Chances

_AROUND = 3
"""Units next to a doubtful one that the transformer decides, too."""
_CONTEXT = 10
"""Units of context on either side of what the transformer decides."""
_ROOM = 90
"""Units whose word pieces fit into one window of the transformer, usually."""

type Flags = NDArray[np.bool_]
type Region = tuple[int, int]
"""The first unit, and the one after the last."""


class Doubt(NamedTuple):
    """When a unit is doubtful: at which probability of an entity where none is likeliest, and below which probability
    of the entity that is.
    """

    some: float
    sure: float


STRICT = Doubt(some=0.02, sure=0.92)
LOOSE = Doubt(some=0.05, sure=0.75)
"""For places and organizations, which the policies hide less often."""


def doubtful(chances: Chances, best: NDArray[np.int64], loose: Sequence[int]) -> Flags:
    """Returns which units are doubtful, given the student's probabilities `[units, classes]` and the likeliest classes.

    Class 0 is none; `loose` are the classes of places and organizations.
    """
    places = chances[:, loose].sum(axis=1)
    others = 1 - chances[:, 0] - places
    result: Flags = (others > STRICT.some) | (places > LOOSE.some)
    sure = np.full(chances.shape[1], STRICT.sure)
    sure[loose] = LOOSE.sure
    # Few; to look for the largest of a row takes longer than all else here.
    named = np.flatnonzero(best)
    result[named] = chances[named, best[named]] < sure[best[named]]
    return result


def near_named(named: Flags) -> Flags:
    """Returns which units are, or are next to, one that the student takes for part of an entity."""
    near = named.copy()
    for step in range(1, _AROUND + 1):
        near[step:] |= named[:-step]
        near[:-step] |= named[step:]
    return near


def second_readings(doubts: Flags, named: Flags) -> list[Window]:
    """Returns what the transformer reads; `named` are the units that the student takes for part of an entity.

    Parts that are decided anew are disjoint, and none ends within an entity of the student's.
    """
    count = len(doubts)
    some = [_with_context(first, last, count) for first, last in _groups(doubts, named)]
    if sum(one.last - one.first for one in some) < count:
        return some
    return [Window(0, count, 0, count)] if count else []


def answers_of_units(
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    offsets: Sequence[tuple[int, int]],
    chances: Chances,
    known: Flags,
) -> tuple[Chances, Flags]:
    """Returns the probabilities `[units, labels]` of units from those of word pieces: O, then B and I of each type.

    A unit has the mean of the pieces that it overlaps, and begins a span where its first piece does. Returns as well
    which units have a piece that is `known`: the transformer says nothing of use about others.
    """
    result = np.zeros((len(starts), chances.shape[1]), np.float32)
    if not len(offsets):
        return result, np.zeros(len(starts), bool)
    places = np.array(offsets, np.int64)
    first = np.searchsorted(places[:, 1], starts, "right")
    last = np.searchsorted(places[:, 0], ends, "left")
    read = first < last
    first, last = first[read], last[read]
    sums = np.concatenate([np.zeros((1, chances.shape[1])), np.cumsum(chances, axis=0, dtype=np.float64)])
    mean = (sums[last] - sums[first]) / (last - first)[:, None]
    begins, inside = chances[first, 1::2], chances[first, 2::2]
    types = mean[:, 1::2] + mean[:, 2::2]
    share = begins / np.maximum(begins + inside, 1e-9)
    mean[:, 1::2], mean[:, 2::2] = types * share, types * (1 - share)
    result[read] = mean
    count = np.concatenate([[0], np.cumsum(known)])
    read[read] = count[last] > count[first]
    return result, read


def _with_context(first: int, last: int, count: int) -> Window:
    return Window(max(0, first - _CONTEXT), min(count, last + _CONTEXT), first, last)


def _groups(doubts: Flags, named: Flags) -> Iterator[Region]:
    """Yields regions that fit into one window together, since it takes less time than two."""
    return _joined(_regions(doubts, named), lambda one, other: other[1] - one[0] <= _ROOM - 2 * _CONTEXT)


def _regions(doubts: Flags, named: Flags) -> Iterator[Region]:
    """Yields doubtful units with their neighbours and the entities that they touch; disjoint, in order."""

    def around() -> Iterator[Region]:
        last = 0
        for place in np.flatnonzero(doubts).tolist():
            # A place whose neighbours are in the region before adds nothing.
            if place + _AROUND >= last:
                first, last = _widened(max(0, place - _AROUND), min(len(named), place + 1 + _AROUND), named)
                yield first, last

    return _joined(around(), lambda one, other: other[0] <= one[1])


def _joined(regions: Iterable[Region], belong: Callable[[Region, Region], bool]) -> Iterator[Region]:
    """Yields regions, which are in order, each joined with those after it as long as they belong together."""
    group: Region | None = None
    for region in regions:
        if group is not None and belong(group, region):
            group = group[0], region[1]
            continue
        if group is not None:
            yield group
        group = region
    if group is not None:
        yield group


def _widened(first: int, last: int, named: Flags) -> Region:
    """Widens a region to the whole of the entities at its ends."""
    while 0 < first < len(named) and named[first] and named[first - 1]:
        first -= 1
    while 0 < last < len(named) and named[last] and named[last - 1]:
        last += 1
    return first, last
