"""Makes disjoint spans of findings that share characters. The rule, in full:

1. Findings that share at least one character, directly or through others, are a group. Spans that only
   touch are not.
2. A group becomes one finding over everything its members cover: what any recognizer found is hidden, to
   the last character, and nothing is hidden that nobody found.
3. The winner of the group gives its type and recognizer. A finding that holds all the others is the winner
   if it is at least as likely as not (score >= 0.5): the address inside a URL belongs to the URL. Otherwise
   the highest score wins (a validated finding has 1.0), then the longest, then the earliest, then the first
   type and recognizer by name.
4. The score is the highest of the group: a doubt about the type is no doubt that something private stands
   there.

Resolve after the policy has dropped the findings it leaves alone, or one of those may widen another.
"""

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Protocol

from gateway.models import Entity

_LIKELY = 0.5


class Spanned(Protocol):
    """Whatever begins and ends somewhere in a text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def resolve_overlaps(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Disjoint findings, sorted, that cover exactly the characters the given ones cover. Empty spans are
    dropped.
    """
    spans = sorted([one for one in entities if one.start < one.end], key=attrgetter("start"))
    return tuple([_merge(group) for group in overlapping(spans)])


def overlapping[S: Spanned](spans: Iterable[S]) -> Iterator[list[S]]:
    """Sorted spans, parted into groups of those that share characters, directly or through others."""
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


def _merge(group: list[Entity]) -> Entity:
    if len(group) == 1:
        return group[0]
    start = group[0].start
    end = max(entity.end for entity in group)

    def rank(entity: Entity) -> tuple[bool, float, int, int, str, str]:
        holds_all = entity.start == start and entity.end == end and entity.score >= _LIKELY
        length = entity.end - entity.start
        return not holds_all, -entity.score, -length, entity.start, entity.type, entity.recognizer

    winner = min(group, key=rank)
    return Entity(winner.type, start, end, max(entity.score for entity in group), winner.recognizer)
