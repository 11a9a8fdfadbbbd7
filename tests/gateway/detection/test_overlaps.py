"""Overlapping findings become disjoint ones that cover the same characters, no more and no fewer."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection import resolve_overlaps
from gateway.models import Entity

type Span = tuple[str, int, int, float]
SPANS = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted)
ENTITIES = st.lists(
    st.builds(
        lambda span, type_name, score, said: Entity(type_name, span[0], span[1], score, said),
        SPANS,
        st.sampled_from(["URL", "PERSON", "EMAIL_ADDRESS"]),
        st.sampled_from([0.2, 0.5, 0.85, 1.0]),
        st.sampled_from(["one", "two"]),
    ),
    max_size=12,
)


def covered(entities: list[Entity] | tuple[Entity, ...]) -> set[int]:
    return {at for one in entities for at in range(one.start, one.end)}


@given(ENTITIES)
def test_same_characters_disjoint_and_sorted(entities: list[Entity]) -> None:
    resolved = resolve_overlaps(entities)
    assert covered(resolved) == covered(entities)
    assert all(left.end <= right.start for left, right in pairwise(resolved))
    assert all(one.start < one.end for one in resolved)


@given(ENTITIES, st.randoms())
def test_the_order_of_the_findings_does_not_matter(entities: list[Entity], random: object) -> None:
    shuffled = list(entities)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve_overlaps(shuffled) == resolve_overlaps(entities)


@given(ENTITIES)
def test_resolving_twice_changes_nothing_and_types_are_taken_from_the_input(entities: list[Entity]) -> None:
    resolved = resolve_overlaps(entities)
    assert resolve_overlaps(resolved) == resolved
    for one in resolved:
        inside = [other for other in entities if one.start <= other.start and other.end <= one.end]
        assert one.type in {other.type for other in inside}
        assert one.score == max(other.score for other in inside if other.start < other.end)


def entity(type_name: str, start: int, end: int, score: float) -> Entity:
    return Entity(type_name, start, end, score, "test")


@pytest.mark.parametrize(
    ("found", "resolved"),
    [
        ([("PHONE_NUMBER", 0, 12, 0.7), ("CREDIT_CARD", 4, 20, 1.0)], [("CREDIT_CARD", 0, 20, 1.0)]),
        ([("URL", 0, 40, 0.6), ("EMAIL_ADDRESS", 20, 34, 0.95)], [("URL", 0, 40, 0.95)]),
        ([("PHONE_NUMBER", 0, 21, 0.3), ("CREDIT_CARD", 5, 21, 1.0)], [("CREDIT_CARD", 0, 21, 1.0)]),
        ([("PERSON", 0, 8, 0.8), ("ORGANIZATION", 5, 19, 0.8)], [("ORGANIZATION", 0, 19, 0.8)]),
        ([("PERSON", 5, 13, 0.8), ("URL", 0, 8, 0.8)], [("URL", 0, 13, 0.8)]),
        ([("URL", 4, 8, 0.8), ("PERSON", 0, 4, 0.8)], [("PERSON", 0, 4, 0.8), ("URL", 4, 8, 0.8)]),
    ],
    ids=["higher score", "whole", "doubtful whole", "longer", "earlier", "touching"],
)
def test_the_type_of_united_findings(found: list[Span], resolved: list[Span]) -> None:
    assert resolve_overlaps([entity(*one) for one in found]) == tuple(entity(*one) for one in resolved)


def test_the_policy_decides_the_type_of_united_findings() -> None:
    url, number = entity("URL", 0, 40, 0.95), entity("US_SSN", 10, 21, 0.6)
    found = resolve_overlaps([url, number], lambda one: one.type == "US_SSN")
    assert found == (Entity("US_SSN", 0, 40, 0.95, "test"),)


def test_among_equals_the_policy_s_own_term_wins() -> None:
    own = Entity("PROJECT", 5, 11, 1.0, "policy:deny")
    assert resolve_overlaps([entity("PERSON", 5, 11, 1.0), own]) == (own,)
