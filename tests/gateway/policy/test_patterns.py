"""A policy's own patterns: where they match, how sure, and at what cost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Unavailable
from gateway.models import Entity
from gateway.policy.document import PatternDocument
from gateway.policy.model import Policy
from gateway.policy.patterns import WINDOW, PatternSearch
from tests.gateway.policy import policy


def with_pattern(regex: str, **fields: Any) -> Policy:
    return policy(patterns=[{"name": "ticket", "type": "TICKET", "regex": regex, **fields}])


def found(text: str, regex: str, **fields: Any) -> list[tuple[str, float]]:
    return [(text[one.start : one.end], one.score) for one in with_pattern(regex, **fields).find(text)]


def test_a_match_is_a_finding_of_the_pattern() -> None:
    assert with_pattern(r"TCK-\d+", score=0.7).find("😀 é TCK-42, TCK-7") == (
        Entity("TICKET", 4, 10, 0.7, "policy:ticket"),
        Entity("TICKET", 12, 17, 0.7, "policy:ticket"),
    )


def test_the_group_value_is_the_private_part() -> None:
    assert found("ticket: 4711.", r"ticket: (?P<value>\d+)") == [("4711", 0.8)]
    assert found("ticket: 4711.", r"ticket: (\d+)") == [("ticket: 4711", 0.8)]


def test_context_makes_surer_or_decides() -> None:
    text = "the ticket 4711 and far away" + " " * 200 + "4712"
    context = {"score": 0.4, "context": ["ticket", "case"]}
    assert found(text, r"\b\d{4}\b", **context) == [("4711", 0.8), ("4712", 0.4)]
    assert found(text, r"\b\d{4}\b", needs_context=True, **context) == [("4711", 0.8)]
    assert found("ticket 4711", r"\d{4}", score=0.98, context=["ticket"]) == [("4711", 0.98)]


def test_borders_are_seen_across_the_matches_before() -> None:
    assert found("ab ab abab", r"\bab\b") == [("ab", 0.8), ("ab", 0.8)]
    assert found("xx", "x") == [("x", 0.8), ("x", 0.8)]


def test_full_width_digits_are_digits() -> None:
    assert found("TCK\u2011４７１１", r"TCK-\d{4}") == [("TCK\u2011４７１１", 0.8)]


def test_several_patterns_and_terms_together() -> None:
    made = policy(
        patterns=[
            {"name": "one", "type": "ONE", "regex": r"\d{3}"},
            {"name": "two", "type": "TWO", "regex": r"\d{2}"},
            {"name": "never", "type": "NEVER", "regex": "zzz"},
        ],
        deny=[{"type": "TERM", "terms": ["123"]}],
    )
    assert [(one.type, one.start, one.end) for one in made.find("a 123")] == [
        ("ONE", 2, 5),
        ("TERM", 2, 5),
        ("TWO", 2, 4),
    ]


def test_no_patterns_no_search() -> None:
    assert policy().matcher is None
    assert policy().find("anything at all") == ()


@pytest.mark.parametrize("gap", [16_300, 16_390, 33_000, 100_000])
def test_matches_at_and_over_the_border_of_a_window(gap: int) -> None:
    text = "é" * (gap // 2) + "TCK-123 " + "x" * 20_000 + " TCK-456"
    assert found(text, r"TCK-\d+") == [("TCK-123", 0.8), ("TCK-456", 0.8)]


@pytest.mark.parametrize("length", [100, 16_383, 16_384, 40_000, 200_000])
def test_long_matches_are_found_whole(length: int) -> None:
    text = "x BEGIN " + "a" * length + " END x"
    assert found(text, r"BEGIN a+ END") == [(text[2:-2], 0.8)]
    assert found(text, r"a{3}a+") == [("a" * length, 0.8)]
    assert found(text, r"(?s)BEGIN.*") == [(text[2:], 0.8)]


@given(st.text(alphabet="ab é\n-", max_size=60))
def test_as_a_plain_search_would(text: str) -> None:
    import re

    regex = r"a+b|b-?a|é\s"
    assert [part for part, _ in found(text, regex)] == [match[0] for match in re.finditer(regex, text)]


HOSTILE = {
    "nested plus": "(a+)+$",
    "nested plus, 512 characters": "(a+)+$|" * 72 + "(a+)+a+$",
    "alternatives that overlap": "(a|aa|aaa)+$",
    "a long way that fails": "a.*b|a{400}",
    "many optional": "(?:a?){200}a{200}$",
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_pattern_stays_linear(name: str) -> None:
    """On a million characters, anything but linear time does not come to an end."""
    assert len(HOSTILE[name]) <= 512
    made = with_pattern(HOSTILE[name])
    for size in (1000, 125_000, 1_000_000):
        made.find("a" * size + "!")


@pytest.mark.slow
def test_a_match_at_every_character_does_not_search_the_rest_of_the_text_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted in bytes that a search is given."""
    pattern = PatternDocument.model_validate({"name": "ticket", "type": "TICKET", "regex": "a.*b|a"})
    search = PatternSearch(pattern)
    compiled = search._compiled
    given: list[int] = []
    size = WINDOW + 2_000

    class Counted:
        groupindex = compiled.groupindex

        def search(self, data: bytes, start: int, end: int) -> Any:
            given.append(min(end, len(data)) - start)
            return compiled.search(data, start, end)

    monkeypatch.setitem(vars(search), "_compiled", Counted())
    assert len(list(search.spans(b"a" * size))) == size
    assert max(given) <= 2 * WINDOW
    assert len(given) <= size + len(range(0, size, WINDOW))


@pytest.mark.slow
def test_a_pattern_gone_wrong_fails_closed() -> None:
    with pytest.raises(Unavailable) as refusal:
        with_pattern("a").find("a" * 100_001)
    assert refusal.value.code == "detection_failed"
