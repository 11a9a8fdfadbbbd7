"""Values to leave alone and terms to hide."""

import pytest

from gateway.models import Entity
from tests.gateway.policy import policy
from tests.tables import table

CASES = table(__file__)


def found(text: str, *terms: str, **how: object) -> list[str]:
    """Returns what a deny list of these terms finds, as spelled in the text."""
    entities = policy(deny=[{"type": "TERM", "terms": list(terms), **how}]).find(text)
    assert all((one.type, one.score, one.recognizer) == ("TERM", 1.0, "policy:deny") for one in entities)
    return [text[one.start : one.end] for one in entities]


@pytest.mark.parametrize(("text", "terms", "expected"), CASES["terms_match_whole_words_in_any_case"])
def test_terms_match_whole_words_in_any_case(text: str, terms: list[str], expected: list[str]) -> None:
    assert found(text, *terms) == expected


@pytest.mark.parametrize(("text", "term", "expected"), CASES["terms_in_other_scripts"])
def test_terms_in_other_scripts(text: str, term: str, expected: list[str]) -> None:
    assert found(text, term) == expected


@pytest.mark.parametrize(("text", "value"), CASES["typography_does_not_help_to_slip_past"])
def test_typography_does_not_help_to_slip_past(text: str, value: str) -> None:
    assert value in found(text, "Aurora", "Aurora-Nine", "Aurora Nine")


def test_options_of_the_deny_list() -> None:
    assert found("aurora Aurora", "Aurora", ignore_case=False) == ["Aurora"]
    assert found("preAURORAs", "aurora", whole_word=False) == ["AURORA"]
    assert found("zürich ZÜRICH", "Zürich", ignore_case=False) == []


def test_each_entry_has_its_own_type() -> None:
    made = policy(deny=[{"type": "PROJECT", "terms": ["Aurora"]}, {"type": "CLIENT", "terms": ["Borealis"]}])
    assert made.find("Borealis 💼 Aurora") == (
        Entity("CLIENT", 0, 8, 1.0, "policy:deny"),
        Entity("PROJECT", 11, 17, 1.0, "policy:deny"),
    )


def test_a_thousand_terms_are_one_search() -> None:
    terms = [f"Projekt Größe {n}" for n in range(1000)]
    assert found("x projekt GRÖSSE 7 y Projekt Größe 999 Projekt Größe 1000", *terms) == [
        "projekt GRÖSSE 7",
        "Projekt Größe 999",
    ]


def test_terms_that_begin_inside_every_word_cost_no_more() -> None:
    """Every word holds the term two hundred times where it may not begin."""
    text = ("b" + "a" * 200 + " ") * 2000
    assert found(text, *("a" * n for n in range(1, 101))) == []


def test_allowed_values() -> None:
    made = policy(
        allow=[
            {"values": ["info@example.org"]},
            {"values": ["Support"], "ignore_case": True},
            {"values": ["Paris", "CAFE\u0301"], "types": ["PERSON", "LOCATION"]},
        ]
    )
    assert made.allows("EMAIL_ADDRESS", "info@example.org")
    assert not made.allows("EMAIL_ADDRESS", "Info@example.org")
    assert made.allows("PERSON", "SUPPORT")
    assert made.allows("PERSON", "Paris")
    assert made.allows("LOCATION", "CAFÉ")
    assert not made.allows("ORGANIZATION", "Paris")
    assert not made.allows("PERSON", "Paris ")
    assert not policy().allows("PERSON", "Paris")


def test_a_policy_shows_no_list_when_printed() -> None:
    made = policy(deny=[{"type": "TERM", "terms": ["Aurora"]}], allow=[{"values": ["Borealis"]}])
    shown = repr(made) + repr(made.matcher) + repr(made.allow_list)
    assert "urora" not in shown
    assert "oreal" not in shown
