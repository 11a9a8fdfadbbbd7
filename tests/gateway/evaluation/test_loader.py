"""Labelled text is read unchanged; an unusable line is reported by its number, never repeated."""

import json
from pathlib import Path

import pytest

from gateway.errors import Unprocessable
from gateway.evaluation.loader import Case, Document, GoldSpan, read_lines

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "evaluation"
REFUSED: list[dict[str, str]] = json.loads((VECTORS / "refused.json").read_text("utf-8"))

LINES = [
    '{"id": "d1", "text": "Jane Roe", "spans": [{"start": 5, "end": 8, "label": "B"}, {"start": 0, "end": 4, '
    '"label": "A", "value": "Jane"}], "source": "x"}\n',
    "\n",
    '{"id": 7, "entity": "E", "text": "abc", "polarity": "positive", "expected_spans": [[0, 3]]}\n',
    '{"entity": "E", "text": "abc", "polarity": "positive", "expected_spans": []}\n',
    '{"entity": "E", "text": "abc", "polarity": "negative", "expected_spans": null}\n',
]


def test_documents_and_cases_may_share_a_file() -> None:
    read = read_lines(LINES)
    assert read.documents == (Document("d1", "Jane Roe", (GoldSpan(0, 4, "A"), GoldSpan(5, 8, "B"))),)
    assert read.cases == (
        Case("7", "E", "abc", True, ((0, 3),)),
        Case("4", "E", "abc", True, None),
        Case("5", "E", "abc", False, None),
    )


def test_no_more_than_the_limit_is_read() -> None:
    broken = [*LINES[:3], "nothing like JSON"]
    read = read_lines(broken, 2)
    assert len(read.documents) + len(read.cases) == 2


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_refused(case: dict[str, str]) -> None:
    line = "[" * 100_000 if case["line"] == "DEEP" else case["line"]
    with pytest.raises(Unprocessable) as refusal:
        read_lines([LINES[0], line])
    assert refusal.value.message.startswith("Line 2: ")
    assert case["says"] in refusal.value.message
    assert "abc" not in refusal.value.message


def test_the_text_is_in_no_repr() -> None:
    read = read_lines(LINES)
    assert "Jane" not in repr(read)
    assert "abc" not in repr(read)
