"""Values to leave alone and terms to hide."""

import pytest

from gateway.models import Entity
from tests.gateway.policy import policy


def found(text: str, *terms: str, **how: object) -> list[str]:
    """Returns what a deny list of these terms finds, as spelled in the text."""
    entities = policy(deny=[{"type": "TERM", "terms": list(terms), **how}]).find(text)
    assert all((one.type, one.score, one.recognizer) == ("TERM", 1.0, "policy:deny") for one in entities)
    return [text[one.start : one.end] for one in entities]


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("Project AURORA and aurora.", ["Aurora"], ["AURORA", "aurora"]),
        ("Auroras, preaurora, aurora_1, aurora2", ["Aurora"], []),
        ("aurora-2, (aurora), aurora's", ["Aurora"], ["aurora", "aurora", "aurora"]),
        ("Ann, Anna, Annabel", ["Ann", "Anna"], ["Ann", "Anna"]),
        ("New York City, New York Cityhall", ["New York", "New York City"], ["New York City", "New York"]),
        ("new\nyork, new \t york", ["New York"], ["new\nyork", "new \t york"]),
        ("I use C++, c++17 and .NET", ["C++", ".NET"], ["C++", "c++", ".NET"]),
        ("aurora aurora", ["aurora"], ["aurora", "aurora"]),
        ("§Aurora", ["§", "Aurora"], ["§", "Aurora"]),
        ("aurora", ["aurora"], ["aurora"]),
        ("", ["aurora"], []),
    ],
)
def test_terms_match_whole_words_in_any_case(text: str, terms: list[str], expected: list[str]) -> None:
    assert found(text, *terms) == expected


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("ZÜRICH, Zürich, Zu\u0308rich, Zürichs", "Zürich", ["ZÜRICH", "Zürich", "Zu\u0308rich"]),
        ("Zürich", "Zu\u0308rich", ["Zürich"]),
        ("STRASSE straße", "Straße", ["STRASSE", "straße"]),
        ("МОСКВА москва Москвариум", "Москва", ["МОСКВА", "москва"]),
        ("ΟΔΟΣ οδός οδος", "οδος", ["ΟΔΟΣ", "οδος"]),
        ("我在腾讯工作", "腾讯", ["腾讯"]),
        ("我在Tencent工作", "Tencent", ["Tencent"]),
        ("ตึกใบหยกสูง", "ใบหยก", ["ใบหยก"]),
        ("데이터 데이터베이스", "데이터", ["데이터"]),
        ("😀Aurora😀", "aurora", ["Aurora"]),
    ],
)
def test_terms_in_other_scripts(text: str, term: str, expected: list[str]) -> None:
    assert found(text, term) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("see Ａｕｒｏｒａ now", "Ａｕｒｏｒａ"),
        ("see Au\u200bro\u00adra now", "Au\u200bro\u00adra"),
        ("see Aurora\u2011Nine now", "Aurora\u2011Nine"),
        ("see Aurora\u00a0Nine now", "Aurora\u00a0Nine"),
    ],
)
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
