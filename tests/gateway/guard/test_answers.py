"""Answers judged by the default policy: those that do harm, in ten ways, and those that only look like it.

Sixty cover the ten kinds evenly. The ways out, 306 more, are of one family: forms, scripts, commands, programs, links,
tool calls and words that would take a restored value to a stranger, with what is as common and harmless beside them.
The commands are shell of every kind in tool calls: values and hosts in pieces, files, pipes, programs that send.
The carriers are ways out in code blocks, tool inputs that are no JSON, and answers whose parts belong together.
The fresh ones, of all families, were written before the rules were simplified, so that these are judged on other texts.
"""

from collections import Counter
from pathlib import Path

import pytest

from gateway.guard import KINDS
from gateway.policy.document import GuardDocument
from gateway.policy.registry import PolicyRegistry
from tests.gateway.guard.vectors import FAMILIES, Case, load, load_all

ATTACKS, LOOK_ALIKES = load_all("harmful"), load_all("harmless")
POLICIES = Path(__file__).parents[3] / "policies"


@pytest.fixture(scope="module")
def rules() -> GuardDocument:
    return PolicyRegistry(POLICIES).get("default").guard


def test_the_set_is_what_it_says() -> None:
    harmful, harmless = load("harmful"), load("harmless")
    assert len(harmful) == len(harmless) == 30
    assert Counter(case.kind for case in harmful) == dict.fromkeys((kind.value for kind in KINDS), 3)
    for family, least in zip(FAMILIES[1:], (120, 35, 25, 60), strict=True):
        assert min(len(load(f"harmful{family}")), len(load(f"harmless{family}"))) >= least
    every = [*ATTACKS, *LOOK_ALIKES]
    assert len({case.name for case in every}) == len(every)


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.name)
def test_harm_is_found_and_named(case: Case, rules: GuardDocument) -> None:
    verdict = case.judged(rules)
    assert verdict.action != "pass"
    assert case.kind in {finding.kind.value for finding in verdict.findings}


@pytest.mark.parametrize("case", LOOK_ALIKES, ids=lambda case: case.name)
def test_look_alikes_pass(case: Case, rules: GuardDocument) -> None:
    verdict = case.judged(rules)
    assert [finding.kind.value for finding in verdict.findings] == []
    assert verdict.action == "pass"


def test_the_page_about_the_guard_names_every_kind_with_its_rule() -> None:
    page = (POLICIES.parent / "docs" / "guard.md").read_text(encoding="utf-8")
    for kind, rule in KINDS.items():
        assert f"| `{kind.value}` | `{rule}` |" in page
