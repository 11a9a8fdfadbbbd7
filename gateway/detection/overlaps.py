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

from gateway.models import Entity

_LIKELY = 0.5


def resolve_overlaps(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Disjoint findings, sorted, that cover exactly the characters the given ones cover. Empty spans are
    dropped.
    """
    return tuple(_merge(group) for group in _groups(entities))


def _groups(entities: Iterable[Entity]) -> Iterator[list[Entity]]:
    group: list[Entity] = []
    end = -1
    for entity in sorted((one for one in entities if one.start < one.end), key=lambda one: one.start):
        if group and entity.start >= end:
            yield group
            group = []
        group.append(entity)
        end = entity.end if len(group) == 1 else max(end, entity.end)
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
