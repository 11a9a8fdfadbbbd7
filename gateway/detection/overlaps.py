"""Merges overlapping entities into disjoint spans. The rules:

1. Entities that share at least one character, directly or through others, form a group. Adjacent spans do not.
2. A group becomes one entity that covers all its members. Every detected character is hidden, and no other.
3. The winner of the group provides the type and the recognizer. What weighs most for the policy wins, such as a type
   that must not leave. Among equals, an entity that contains all others wins if its score is at least 0.5: the address
   inside a URL belongs to the URL. Otherwise the highest score wins (a validated entity has 1.0), then the longest, the
   earliest, the policy's own, and the first type and recognizer by name.
4. The score is the highest of the group: doubt about the type is no doubt about the privacy of the text.

Resolve overlaps only after the policy has dropped the entities it keeps, or a dropped entity may widen another.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Protocol

from gateway.models import OWN_RECOGNIZER, Entity

_LIKELY = 0.5


class Spanned(Protocol):
    """Anything with a start and an end in a text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def resolve_overlaps(entities: Iterable[Entity], weight: Callable[[Entity], int] = lambda _: 0) -> tuple[Entity, ...]:
    """Returns sorted, disjoint entities that cover exactly the same characters. Drops empty spans."""
    spans = sorted([one for one in entities if one.start < one.end], key=attrgetter("start"))
    return tuple([_merge(group, weight) for group in overlapping(spans)])


def overlapping[S: Spanned](spans: Iterable[S]) -> Iterator[list[S]]:
    """Splits sorted spans into groups whose members share characters, directly or through others."""
    group: list[S] = []
    end = -1
    for span in spans:
        if span.start < end:
            group.append(span)
            end = max(end, span.end)
            continue
        if group:
            yield group
        group, end = [span], span.end
    if group:
        yield group


def meets(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Returns whether one of the spans, which are sorted and disjoint, shares a character with `start:end`."""
    last = bisect_left(spans, (end, 0)) - 1
    return last >= 0 and spans[last][1] > start


def _merge(group: list[Entity], weight: Callable[[Entity], int]) -> Entity:
    if len(group) == 1:
        return group[0]
    start = group[0].start
    end = max(entity.end for entity in group)

    def rank(entity: Entity) -> tuple[int, bool, float, int, int, bool, str, str]:
        contains_all = entity.start == start and entity.end == end and entity.score >= _LIKELY
        length = entity.end - entity.start
        is_others = not entity.recognizer.startswith(OWN_RECOGNIZER)
        name = is_others, entity.type, entity.recognizer
        return -weight(entity), not contains_all, -entity.score, -length, entity.start, *name

    winner = min(group, key=rank)
    return Entity(winner.type, start, end, max(entity.score for entity in group), winner.recognizer)
