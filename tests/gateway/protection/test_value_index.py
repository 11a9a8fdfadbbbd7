"""A message is searched for those earlier values only that may be in it; what is found stays the same."""

import pytest

from gateway.models import Action
from gateway.protection.known_values import KnownValues
from gateway.text.fields import Span
from tests.tables import table

CASES = table(__file__)


def spans_in(text: str, *values: tuple[str, str]) -> tuple[Span, ...]:
    places = ((text.index(value), value, kind) for value, kind in values)
    return tuple(Span(at, at + len(v), kind, Action.PLACEHOLDER, 0.9, "test") for at, v, kind in places)


@pytest.mark.parametrize(("kind", "value", "text"), CASES["clues"].values(), ids=CASES["clues"])
def test_a_value_of_a_long_conversation_is_found_as_one_of_a_short_one(kind: str, value: str, text: str) -> None:
    alone, among = KnownValues(), KnownValues()
    for number in range(200):
        other = f"name{number}@host{number}.example"
        among.add([other], [spans_in(other, (other, "EMAIL_ADDRESS"))])
    for known in (alone, among):
        known.add([value], [spans_in(value, (value, kind))])
    found = alone.repeats(text, ())
    assert found
    assert among.repeats(text, ()) == found
    # Once everything is indexed, as for a long text, and for the values of a later block.
    assert [span.type for span in among.repeats(f"{text}\n" + "So it is. " * 1000, ())] == [one.type for one in found]
    assert KnownValues(among).repeats(text, ()) == found


@pytest.mark.parametrize("early", ["Anna", "Schmidt", "nobody"])
def test_the_first_of_equal_values_counts_whichever_was_met_first(early: str) -> None:
    known = KnownValues()
    said = "Schmidt, then Anna Schmidt"
    known.add([said], [spans_in(said, ("Schmidt", "ORGANIZATION"), ("Anna Schmidt", "PERSON"))])
    known.repeats(f"Here is {early}.", ())
    assert [span.type for span in known.repeats("Ask Schmidt, please.", ())] == ["ORGANIZATION"]


@pytest.mark.parametrize("others", [0, 200])
def test_a_value_of_signs_alone_is_found_in_a_short_text(others: int) -> None:
    known = KnownValues()
    for number in range(others):
        other = f"name{number}@host{number}.example"
        known.add([other], [spans_in(other, (other, "EMAIL_ADDRESS"))])
    secret = "\u2022\u25cb\u2022\u2022\u25cb\u2022"
    known.add([secret], [spans_in(secret, (secret, "PASSWORD"))])
    assert [span.type for span in known.repeats(f"It is {secret} still.", ())] == ["PASSWORD"]


def test_values_added_after_a_search_are_found() -> None:
    later = KnownValues(KnownValues())
    later.add(["Bo Weber"], [spans_in("Bo Weber", ("Bo Weber", "PERSON"))])
    assert later.repeats("Here is nobody.", ()) == ()
    later.add(["Anna Schmidt"], [spans_in("Anna Schmidt", ("Anna Schmidt", "PERSON"))])
    assert [span.type for span in later.repeats("It was Anna Schmidt.", ())] == ["PERSON"]


def test_a_value_among_too_many_to_count_is_found() -> None:
    known = KnownValues()
    for length in range(4, 40):
        value = "a" * length + " b" * length
        known.add([value], [spans_in(value, (value, "PASSWORD"))])
    known.add(["Anna Schmidt"], [spans_in("Anna Schmidt", ("Anna Schmidt", "PERSON"))])
    assert [span.type for span in known.repeats("b" * 5000 + "a" * 5000 + " by Anna Schmidt.", ())] == ["PERSON"]
