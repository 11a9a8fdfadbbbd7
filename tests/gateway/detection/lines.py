"""Cases of detection as lines of JSON: `{name, type, text, value}` must be found, `{name, text}` must be left alone."""

import json
from pathlib import Path

from gateway.detection import Detector
from gateway.models import Entity

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "detection"
Case = dict[str, str]


def cases(name: str) -> list[Case]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def named(case: Case) -> str:
    return case["name"]


def best(detector: Detector, case: Case) -> float:
    """The score with which exactly the value is found as its type; 0 if it is not."""
    start = case["text"].index(case["value"])
    return max((one.score for one in detector.detect(case["text"]) if _is(one, case, start)), default=0.0)


def _is(one: Entity, case: Case, start: int) -> bool:
    return (one.type, one.start, one.end) == (case["type"], start, start + len(case["value"]))
