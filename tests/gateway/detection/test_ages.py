"""Dates of birth and ages, in seven languages."""

import pytest

from gateway.detection import Detector
from tests.gateway.detection.lines import Case, best, cases, named

LIKELY = 0.5


@pytest.mark.parametrize("case", cases("ages"), ids=named)
def test_found_whole(detector: Detector, case: Case) -> None:
    assert best(detector, case) >= LIKELY


@pytest.mark.parametrize(
    "text",
    [
        "for 3 years",
        "a 10-year plan and a 2-year budget",
        "depuis 10 ans",
        "hace 10 años",
        "da 10 anni",
        "há 10 anos",
        "seit 10 Jahren",
        "al 10 jaar",
        "garantía de 2 años",
        "Cache-Control: max-age=60",
        "34M records, 20F degrees",
        "turn 90 degrees",
        "page 31, stage 4",
    ],
)
def test_durations_and_other_numbers_are_no_ages(detector: Detector, text: str) -> None:
    assert [one for one in detector.detect(text) if one.type in {"AGE", "DATE_OF_BIRTH"}] == []


@pytest.mark.parametrize("text", ["born on 99/99/1985", "DOB: 12/2024", "Birth rate: 12.3", "born in 27 BC"])
def test_no_day_of_birth(detector: Detector, text: str) -> None:
    assert [one for one in detector.detect(text) if one.type == "DATE_OF_BIRTH"] == []
