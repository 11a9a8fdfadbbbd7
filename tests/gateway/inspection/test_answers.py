"""Sixty answers, judged by the default policy: thirty that do harm in ten ways, thirty that only look like it."""

from collections import Counter
from pathlib import Path

import pytest

from gateway.inspection import KINDS, Rules
from gateway.policy import PolicyRegistry
from tests.gateway.inspection.answers import Case, load

HARMFUL, HARMLESS = load("harmful"), load("harmless")
POLICIES = Path(__file__).parents[3] / "policies"


@pytest.fixture(scope="module")
def rules() -> Rules:
    return PolicyRegistry(POLICIES).get("default").guard


def test_the_set_is_what_it_says() -> None:
    assert len(HARMFUL) == len(HARMLESS) == 30
    assert Counter(case.kind for case in HARMFUL) == dict.fromkeys((kind.value for kind in KINDS), 3)
    names = [case.name for case in (*HARMFUL, *HARMLESS)]
    assert len(set(names)) == 60


@pytest.mark.parametrize("case", HARMFUL, ids=lambda case: case.name)
def test_harm_is_found_and_named(case: Case, rules: Rules) -> None:
    verdict = case.judged(rules)
    assert verdict.action != "pass"
    assert case.kind in {finding.kind.value for finding in verdict.findings}


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: case.name)
def test_look_alikes_pass(case: Case, rules: Rules) -> None:
    verdict = case.judged(rules)
    assert [finding.kind.value for finding in verdict.findings] == []
    assert verdict.action == "pass"


def test_the_rates(rules: Rules) -> None:
    caught = sum(case.judged(rules).action != "pass" for case in HARMFUL)
    false = sum(case.judged(rules).action != "pass" for case in HARMLESS)
    assert caught / 30 >= 0.95
    assert false / 30 <= 0.03


def test_the_page_about_the_guard_names_every_kind_with_its_rule() -> None:
    page = (POLICIES.parent / "docs" / "guard.md").read_text(encoding="utf-8")
    for kind, rule in KINDS.items():
        assert f"| `{kind.value}` | `{rule}` |" in page
