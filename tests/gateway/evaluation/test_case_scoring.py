"""Positive and negative cases: found, hidden, left alone, untouched."""

from typing import Any

import pytest

from gateway.evaluation.case_scoring import score_cases
from gateway.evaluation.labels import LabelMap
from gateway.evaluation.loader import Case
from tests.gateway.evaluation.words import Words, seeker
from tests.tables import table

CASES = table(__file__)

LABELS = LabelMap.parse(
    {"cases": {"US_SSN": {"common": "SSN", "action": "redact"}, "*": {"common": "SECRET", "action": "redact"}}}
)
NUMBER, KEY = "536-90-4399", "abcdef-12345"


@pytest.mark.parametrize(("finds", "case", "counts", "kind"), CASES["a_case"].values(), ids=CASES["a_case"])
def test_a_case(finds: dict[str, str], case: list[Any], counts: dict[str, int], kind: str | None) -> None:
    entity, text, positive, spans = case
    given = Case("1", entity, text, positive, None if spans is None else tuple(map(tuple, spans)))
    score, disagreements = score_cases([given], seeker(Words(finds)), LABELS, "cases")
    assert {key: getattr(score.total, key) for key in counts} == counts
    assert score.total.positive + score.total.negative == 1
    assert [one.kind.value for one in disagreements] == ([kind] if kind else [])


def test_a_candidate_below_the_policys_score_counts_only_when_asked_for() -> None:
    case = Case("1", "US_SSN", NUMBER, True, ((0, 11),))
    found = []
    for least in (None, 0.1):
        score, _ = score_cases([case], seeker(Words({NUMBER: "US_SSN"}, score=0.3), min_score=least), LABELS, "cases")
        found.append((score.total.found, score.total.hidden))
    assert found == [(0, 0), (1, 0)]


def test_entities_are_counted_apart_and_together() -> None:
    cases = [
        Case("1", "US_SSN", NUMBER, True, ((0, 11),)),
        Case("2", "token", KEY, True, None),
        Case("3", "token", "nothing", False, ()),
    ]
    score, _ = score_cases(cases, seeker(Words({NUMBER: "US_SSN"})), LABELS, "cases")
    assert list(score.entities) == ["US_SSN", "token"]
    assert (score.total.positive, score.total.found, score.total.negative) == (2, 1, 1)
    assert (score.entities["token"].positive, score.entities["token"].found) == (1, 0)
