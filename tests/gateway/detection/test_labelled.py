"""Identifiers known only by their labels, in seven languages and in the layouts of forms, files and tables."""

from pathlib import Path

import pytest

from gateway.detection import Detector, resolve_overlaps
from gateway.detection.recognizers.labelled_id import LABELS
from gateway.models import PrivacyMode
from gateway.policy.registry import PolicyRegistry
from tests.gateway.detection.test_vectors import cases
from tests.tables import table

CASES = table(__file__)

POLICIES = PolicyRegistry(Path(__file__).resolve().parents[3] / "policies")


def hidden(detector: Detector, text: str, mode: PrivacyMode) -> set[str]:
    """Returns the parts of a text that the default policy hides."""
    policy = POLICIES.get("default")
    found = detector.detect(text)
    rules = {one: policy.rule_for(one.type, detector.types[one.type].group, mode) for one in found}
    acted = [one for one, rule in rules.items() if rule.action.value != "keep" and one.score >= rule.min_score]
    return {text[one.start : one.end] for one in resolve_overlaps(acted)}


def test_every_type_has_cases() -> None:
    assert {case.values[0]["type"] for case in cases("labelled.jsonl")} == LABELS.keys() - {"ORDER_NUMBER"}


@pytest.mark.parametrize("case", cases("clean.jsonl"))
def test_the_default_policy_leaves_clean_texts_alone(detector: Detector, case: dict[str, str]) -> None:
    assert hidden(detector, case["text"], PrivacyMode.STANDARD) == set()


@pytest.mark.parametrize("text", CASES["numbers_of_orders_and_invoices_are_hidden_in_strict_mode_only"])
def test_numbers_of_orders_and_invoices_are_hidden_in_strict_mode_only(detector: Detector, text: str) -> None:
    assert hidden(detector, text, PrivacyMode.STANDARD) == set()
    assert len(hidden(detector, text, PrivacyMode.STRICT)) == 1
