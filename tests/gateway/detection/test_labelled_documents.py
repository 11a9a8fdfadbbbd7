"""Recall and precision on labelled documents, where those are at hand. docs/detection.md has the figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.detection import Detector, resolve_overlaps

LIKELY = 0.5
# Ours, theirs, least recall and precision of exact spans.
TYPES = {
    "EMAIL_ADDRESS": ("EMAIL_ADDRESS", 0.99, 0.99),
    "CREDIT_CARD": ("CREDIT_CARD", 0.98, 0.99),
    "IBAN_CODE": ("IBAN_CODE", 0.99, 0.99),
    "US_SSN": ("US_SSN", 0.99, 0.99),
    "IP_ADDRESS": ("IP_ADDRESS", 0.99, 0.99),
    "URL": ("DOMAIN_NAME", 0.99, 0.99),
    "PHONE_NUMBER": ("PHONE_NUMBER", 0.97, 0.95),
}


LEAST_COVERED = {"US_DRIVER_LICENSE": 0.9, "ZIP_CODE": 0.9, "STREET_ADDRESS": 0.85, "ADDRESS": 0.85, "AGE": 0.95}

pytestmark = pytest.mark.slow


@pytest.fixture(params=["presidio_synth_v2.dev", "presidio_generated_large.dev"])
def documents(request: pytest.FixtureRequest, shared_data: Path) -> list[dict[str, Any]]:
    file = shared_data / f"{request.param}.jsonl"
    if not file.is_file():
        pytest.skip(f"{file.name} is not among the labelled data on this machine")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_structured_identifiers(detector: Detector, documents: list[dict[str, Any]]) -> None:
    gold: dict[str, set[tuple[int, int, int]]] = {type_name: set() for type_name in TYPES}
    found: dict[str, set[tuple[int, int, int]]] = {type_name: set() for type_name in TYPES}
    for number, document in enumerate(documents):
        for type_name, (label, _, _) in TYPES.items():
            spans = (one for one in document["spans"] if one["label"] == label)
            gold[type_name] |= {(number, one["start"], one["end"]) for one in spans}
        likely = (one for one in detector.detect(document["text"]) if one.score >= LIKELY)
        for one in resolve_overlaps(likely):
            if one.type in TYPES:
                found[one.type].add((number, one.start, one.end))
    for type_name, (_, recall, precision) in TYPES.items():
        right = len(gold[type_name] & found[type_name])
        assert right >= recall * len(gold[type_name]), type_name
        assert right >= precision * len(found[type_name]), type_name


def test_strict_mode_hides_licences_postcodes_and_most_addresses(
    detector: Detector, documents: list[dict[str, Any]]
) -> None:
    covered: dict[str, list[bool]] = {label: [] for label in LEAST_COVERED}
    for document in documents:
        text = document["text"]
        places = {at for one in detector.detect(text) if one.score >= 0.3 for at in range(one.start, one.end)}
        for span in document["spans"]:
            if span["label"] in covered:
                inside = {at for at in range(span["start"], span["end"]) if text[at].isalnum()}
                covered[span["label"]].append(inside <= places)
    for label, share in LEAST_COVERED.items():
        assert sum(covered[label]) >= share * len(covered[label]), label
