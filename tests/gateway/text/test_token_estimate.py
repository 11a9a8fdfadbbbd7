"""The estimate against counts of two public vocabularies, measured once (tests/vectors/tokens.jsonl)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.text.token_estimate import estimate, weigh

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "vectors" / "tokens.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_estimate_is_within_thirty_percent(case: dict[str, Any]) -> None:
    counts = case["counts"].values()
    assert len(counts) == 2
    assert estimate(case["text"]) == pytest.approx(sum(counts) / 2, rel=0.3)


def test_only_the_empty_text_has_none() -> None:
    assert estimate("") == 0
    assert [estimate(text) for text in (" ", "a", "\x00", "\ud800", "。")] == [1, 1, 1, 1, 1]


@given(st.text(max_size=80), st.text(max_size=80))
def test_parts_weigh_about_what_the_whole_weighs(first: str, second: str) -> None:
    assert abs(weigh(first + second) - weigh(first) - weigh(second)) <= 2.5


@given(st.text(st.characters(), max_size=80))
def test_any_text_can_be_weighed(text: str) -> None:
    assert (estimate(text) > 0) == bool(text)
