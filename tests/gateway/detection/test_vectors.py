"""Cases as data: values that must be found as written, and texts in which nothing must be found.

`{alphabet:length}` stands for that many characters, computed: no file holds what could be a live key.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gateway.detection import Detector
from gateway.detection.recognizers import _samples

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "detection"
LIKELY = 0.5
ALPHABETS = {
    **{"base62": _samples.BASE62, "base64": _samples.BASE62, "hex": _samples.HEX},
    **{"lower": _samples.LOWER, "urlsafe": _samples.URL_SAFE},
}
_COMPUTED = re.compile(r"\{(base62|base64|hex|lower|urlsafe):(\d+)\}")


def filled(text: str) -> str:
    return _COMPUTED.sub(lambda match: _samples.sample(int(match[2]), ALPHABETS[match[1]]), text)


def cases(*names: str) -> list[Any]:
    """Returns the cases of files, one JSON object on each line, as parameters of a test."""
    lines = ((name, line.rstrip(",")) for name in names for line in (FOLDER / name).read_text("utf-8").splitlines())
    loaded = [(name, json.loads(filled(line))) for name, line in lines if line.strip() not in {"[", "]"}]
    return [pytest.param(case, id=f"{name.partition('.')[0]}: {case['name']}") for name, case in loaded]


def found(detector: Detector, text: str, least: float = LIKELY) -> dict[tuple[str, str], set[str]]:
    """Returns the findings by type and value, each with its names: type, group and recognizer."""
    return {
        (one.type, text[one.start : one.end]): {one.type, one.recognizer, detector.types[one.type].group}
        for one in detector.detect(text)
        if one.score >= least
    }


FOUND = ("found.json", *(f"{name}.jsonl" for name in ("addresses", "ages", "labelled", "usernames")))


@pytest.mark.parametrize("case", cases(*FOUND, "identifiers_found.jsonl", "secrets_found.jsonl"))
def test_found(detector: Detector, case: dict[str, str]) -> None:
    assert (case["type"], case["value"]) in found(detector, case["text"])


@pytest.mark.parametrize("case", cases("exact.jsonl"))
def test_nothing_else_is_found(detector: Detector, case: dict[str, Any]) -> None:
    """Counts findings of the types, groups or recognizers in `of`, with a score of at least `least`."""
    every = found(detector, case["text"], case.get("least", LIKELY))
    assert {one for one, names in every.items() if not names.isdisjoint(case["of"])} == set(map(tuple, case["found"]))


EXACT = [case for case in cases("secrets_found.jsonl") if re.match(r".*: (next-setting|exact)", case.id)]


@pytest.mark.parametrize("case", EXACT)
def test_a_secret_ends_where_its_value_does(detector: Detector, case: dict[str, str]) -> None:
    every = found(detector, case["text"])
    assert {value for (_, value), names in every.items() if "secret" in names} == {case["value"]}


@pytest.mark.parametrize("case", cases("left_alone.json"))
def test_left_alone(detector: Detector, case: dict[str, str]) -> None:
    assert not found(detector, case["text"])


@pytest.mark.parametrize("case", cases("identifiers_left_alone.jsonl"))
def test_no_identifier(detector: Detector, case: dict[str, str]) -> None:
    assert all("temporal" in names for names in found(detector, case["text"]).values())


@pytest.mark.parametrize("case", cases("secrets_left_alone.jsonl"))
def test_no_secret(detector: Detector, case: dict[str, str]) -> None:
    assert not any("secret" in names for names in found(detector, case["text"]).values())
