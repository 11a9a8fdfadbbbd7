"""The model of names on texts it was not trained on: clean prompts, and documents in many languages."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import Detector
from gateway.detection.engines import Engines
from gateway.detection.ner.features import token_types
from gateway.detection.ner.finder import NameFinder
from gateway.models import PrivacyMode
from gateway.policy.model import Policy
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector
from gateway.text.fields import TextField
from tests.tables import table

CASES = table(__file__)

pytestmark = pytest.mark.slow

VECTORS = Path(__file__).parents[3] / "vectors" / "names"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / f"{name}.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def protector(detector: Detector, names: NameFinder) -> Protector:
    return Protector(Engines(detector, [names]), hash_key=bytes(32))


@pytest.fixture(scope="module")
def policy() -> Policy:
    return PolicyRegistry(BUILTIN_POLICIES).get("default")


def hidden(protector: Protector, policy: Policy, text: str) -> list[tuple[int, int, str]]:
    (found,) = protector.find([[TextField(None, None, text)]], policy, PrivacyMode.STANDARD)
    return [(span.start, span.end, span.type) for span in found.spans[0]]


def values(protector: Protector, policy: Policy, name: str, member: str) -> tuple[int, list[str]]:
    """Counts the values in the texts of a file, and returns those of which a letter or digit is not hidden."""
    there, missed = 0, []
    for row in rows(name):
        text = row["text"]
        covered = {at for start, end, _ in hidden(protector, policy, text) for at in range(start, end)}
        for value in row[member]:
            for found in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text):
                there += 1
                if any(at not in covered and text[at].isalnum() for at in range(*found.span())):
                    missed.append(value)
    return there, missed


@pytest.mark.parametrize("row", rows("token_types"), ids=lambda row: f"{len(row['offsets'])}-tokens")
def test_the_features_the_model_was_trained_with(row: dict[str, Any]) -> None:
    assert token_types(row["text"], [tuple(pair) for pair in row["offsets"]]) == row["token_types"]


def test_clean_prompts_stay_as_they_are(protector: Protector, policy: Policy) -> None:
    """At most 3 % of 200 prompts about health, code, cooking, history and geography lose anything."""
    prompts = rows("clean_prompts")
    touched = [row["id"] for row in prompts if hidden(protector, policy, row["text"])]
    assert len(prompts) == 200
    assert len(touched) <= 6, touched


def test_clean_prompts_of_other_languages(protector: Protector, policy: Policy) -> None:
    """At most an eighth of 240 prompts in nine languages loses anything: the base model knew none of their words."""
    prompts = rows("clean_prompts_languages")
    touched = [row["id"] for row in prompts if hidden(protector, policy, row["text"])]
    assert len(prompts) == 240
    assert len(touched) <= 30, touched


def test_names_among_ordinary_words_of_other_languages(protector: Protector, policy: Policy) -> None:
    """At least 90 % of the names are wholly hidden, at any position."""
    there, missed = values(protector, policy, "named_documents_languages", "names")
    assert there > 280
    assert len(missed) / there <= 0.1, missed


def test_business_prompts(protector: Protector, policy: Policy) -> None:
    """At least 96 % of all private values in 201 prompts of offices, wards, courts and schools in twelve languages."""
    there, missed = values(protector, policy, "business_documents", "values")
    assert there > 800
    assert len(missed) / there <= 0.04, missed


def test_clean_business_prompts(protector: Protector, policy: Policy) -> None:
    """At most a tenth of 200 templates, advertisements, recipes, comparisons and reviews loses anything."""
    prompts = rows("business_clean")
    touched = [row["id"] for row in prompts if hidden(protector, policy, row["text"])]
    assert len(prompts) == 200
    assert len(touched) <= 20, touched


def test_persons_in_documents_of_many_languages(protector: Protector, policy: Policy) -> None:
    """At least 85 % of the names of each culture, in documents of kinds that were not trained on."""
    there: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for row in rows("unseen_documents"):
        found = hidden(protector, policy, row["text"])
        for span in row["spans"]:
            if span["label"] == "PERSON":
                there[row["culture"]] += 1
                missed[row["culture"]] += not any(
                    start < span["end"] and span["start"] < end for start, end, _ in found
                )
    recall = {culture: 1 - missed[culture] / number for culture, number in there.items()}
    assert len(recall) >= 12
    assert min(recall.values()) >= 0.85, recall


@pytest.mark.parametrize(("text", "value"), CASES["accounts_that_are_only_mentioned"])
def test_accounts_that_are_only_mentioned(protector: Protector, policy: Policy, text: str, value: str) -> None:
    spans = hidden(protector, policy, text)
    assert any(value in text[start:end] for start, end, _ in spans)
