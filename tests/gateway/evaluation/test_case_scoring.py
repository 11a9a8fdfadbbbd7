"""Positive and negative cases: found, hidden, left alone, untouched."""

import pytest

from gateway.evaluation.case_scoring import score_cases
from gateway.evaluation.labels import LabelMap
from gateway.evaluation.loader import Case
from tests.gateway.evaluation.words import Words, seeker

LABELS = LabelMap.parse(
    {"cases": {"US_SSN": {"common": "SSN", "action": "redact"}, "*": {"common": "SECRET", "action": "redact"}}}
)
NUMBER, KEY = "536-90-4399", "abcdef-12345"

ROWS: list[tuple[str, dict[str, str], Case, dict[str, int], str | None]] = [
    ("found", {NUMBER: "US_SSN"}, Case("1", "US_SSN", NUMBER, True, ((0, 11),)), {"found": 1, "hidden": 1}, None),
    ("nowhere", {}, Case("1", "US_SSN", NUMBER, True, ((0, 11),)), {"found": 0, "hidden": 0}, "missed"),
    (
        "as-another-type",
        {NUMBER: "PHONE_NUMBER"},
        Case("1", "US_SSN", NUMBER, True, ((0, 11),)),
        {"found": 0, "hidden": 1},
        "other type",
    ),
    (
        "half",
        {"536-90": "US_SSN"},
        Case("1", "US_SSN", NUMBER, True, ((0, 11),)),
        {"found": 0, "hidden": 0},
        "partly hidden",
    ),
    (
        "other-borders",
        {f"no. {NUMBER}": "US_SSN"},
        Case("1", "US_SSN", f"no. {NUMBER}", True, ((4, 15),)),
        {"found": 0, "hidden": 1},
        "other borders",
    ),
    ("anywhere", {KEY: "API_KEY"}, Case("1", "token", f"k={KEY}", True, None), {"found": 1, "hidden": 1}, None),
    ("common-type", {KEY: "API_KEY"}, Case("1", "token", KEY, True, ((0, 12),)), {"found": 1, "hidden": 1}, None),
    ("quiet", {}, Case("1", "US_SSN", "none here", False, ()), {"left_alone": 1, "untouched": 1}, None),
    (
        "loud",
        {NUMBER: "US_SSN"},
        Case("1", "US_SSN", NUMBER, False, ()),
        {"left_alone": 0, "untouched": 0},
        "false alarm",
    ),
    (
        "another-type-in-a-negative",
        {NUMBER: "PHONE_NUMBER"},
        Case("1", "US_SSN", NUMBER, False, ()),
        {"left_alone": 1, "untouched": 0},
        "false alarm",
    ),
]


@pytest.mark.parametrize(("finds", "case", "counts", "kind"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_case(finds: dict[str, str], case: Case, counts: dict[str, int], kind: str | None) -> None:
    score, disagreements = score_cases([case], seeker(Words(finds)), LABELS, "cases")
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
