"""Overlapping findings become disjoint ones that cover the same characters, no more and no fewer."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.detection import resolve_overlaps
from gateway.models import Entity

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


def test_the_higher_score_names_the_whole_and_the_rest_of_the_loser_is_covered() -> None:
    card, phone = entity("CREDIT_CARD", 4, 20, 1.0), entity("PHONE_NUMBER", 0, 12, 0.7)
    assert resolve_overlaps([phone, card]) == (entity("CREDIT_CARD", 0, 20, 1.0),)


def test_what_holds_all_the_others_keeps_its_type() -> None:
    url, address = entity("URL", 0, 40, 0.6), entity("EMAIL_ADDRESS", 20, 34, 0.95)
    assert resolve_overlaps([url, address]) == (entity("URL", 0, 40, 0.95),)


def test_a_doubtful_whole_does_not_rename_a_certain_part() -> None:
    candidate, card = entity("PHONE_NUMBER", 0, 21, 0.3), entity("CREDIT_CARD", 5, 21, 1.0)
    assert resolve_overlaps([candidate, card]) == (entity("CREDIT_CARD", 0, 21, 1.0),)


def test_then_the_longer_then_the_earlier_wins() -> None:
    short, long = entity("PERSON", 0, 8, 0.8), entity("ORGANIZATION", 5, 19, 0.8)
    assert resolve_overlaps([short, long])[0].type == "ORGANIZATION"
    first, second = entity("URL", 0, 8, 0.8), entity("PERSON", 5, 13, 0.8)
    assert resolve_overlaps([second, first])[0].type == "URL"


def test_spans_that_only_touch_stay_two() -> None:
    left, right = entity("PERSON", 0, 4, 0.8), entity("URL", 4, 8, 0.8)
    assert resolve_overlaps([right, left]) == (left, right)


def test_what_weighs_more_for_the_policy_names_the_whole() -> None:
    url, number = entity("URL", 0, 40, 0.95), entity("US_SSN", 10, 21, 0.6)
    found = resolve_overlaps([url, number], lambda one: one.type == "US_SSN")
    assert found == (Entity("US_SSN", 0, 40, 0.95, "test"),)


def test_among_equals_the_policy_s_own_term_wins() -> None:
    own = Entity("PROJECT", 5, 11, 1.0, "policy:deny")
    assert resolve_overlaps([entity("PERSON", 5, 11, 1.0), own]) == (own,)
