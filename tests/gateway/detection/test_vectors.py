"""Cases as data: what once was missed is found, and what once was a false alarm is left alone."""

import json
from pathlib import Path

import pytest

from gateway.detection import Detector

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "detection"
LIKELY = 0.5


def cases(name: str) -> list[dict[str, str]]:
    loaded: list[dict[str, str]] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return loaded


@pytest.mark.parametrize("case", cases("found"), ids=lambda case: case["name"])
def test_found(detector: Detector, case: dict[str, str]) -> None:
    found = {
        case["text"][one.start : one.end]
        for one in detector.detect(case["text"])
        if one.type == case["type"] and one.score >= LIKELY
    }
    assert case["value"] in found


@pytest.mark.parametrize("case", cases("left_alone"), ids=lambda case: case["name"])
def test_left_alone(detector: Detector, case: dict[str, str]) -> None:
    assert [one for one in detector.detect(case["text"]) if one.score >= LIKELY] == []
