"""Terminal sequences are ignored: values of a text without them are also found with sequences between them."""

import time
from collections.abc import Sequence

import pytest

from gateway.detection import Detector
from gateway.detection.memory import Recall
from gateway.detection.ner.finder import NameFinder
from gateway.detection.terminal_sequences import HIDDEN, hide_sequences
from gateway.models import Entity
from tests.tables import table

CASES = table(__file__)

VALUE = "tea.larsen@orchard.example"
ESCAPES = CASES["escapes"]


def shown(text: str) -> str:
    return hide_sequences(text).replace(HIDDEN, "")


def found(detector: Detector, text: str) -> list[tuple[str, str]]:
    return [(one.type, text[one.start : one.end]) for one in detector.detect(text) if one.score >= 0.5]


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize(("before", "after"), [("[32m", "[0m"), ("[1;38;5;208m", "[39;49m"), ("[0K", "[2K")])
def test_a_value_between_sequences(detector: Detector, escape: str, before: str, after: str) -> None:
    text = f"from {escape}{before}{VALUE}{escape}{after} today"
    assert shown(text) == f"from {VALUE} today"
    assert found(detector, text) == [("EMAIL_ADDRESS", VALUE)]


@pytest.mark.parametrize(("text", "expected"), CASES["what_is_shown"])
def test_sequences_are_hidden(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert len(hide_sequences(text)) == len(text)


def test_a_setting_whose_name_and_value_have_colours(detector: Detector) -> None:
    text = "\x1b[36mDB_PASSWORD\x1b[0m=\x1b[32mQuitte-44-rot\x1b[0m"
    assert found(detector, text) == [("PASSWORD", "Quitte-44-rot")]


def test_names_are_read_without_them(detector: Detector) -> None:
    read: list[str] = []

    class Reader:
        version = hash = ""
        types = detector.types

        def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
            read.extend(texts)
            return [(Entity("PERSON", text.index("Tea"), text.index("Larsen") + 6, 0.9, "names"),) for text in texts]

        def rest(self) -> None: ...

    text = "by \x1b[1mTea\x1b[0m \x1b[1mLarsen\x1b[0m, again"
    recall: Recall | None = None
    ((one,),) = NameFinder(Reader()).detect_all([text], recall)
    assert read == ["by Tea Larsen, again"]
    assert text[one.start : one.end] == "Tea\x1b[0m \x1b[1mLarsen"


@pytest.mark.parametrize("part", ["\x1b[", "\x1b]8;", "\\", r"\e", "[1;1", "[1m"])
def test_the_time_is_linear(part: str) -> None:
    start = time.perf_counter()
    hide_sequences("\x1b[1m" + part * 100_000)
    assert time.perf_counter() - start < 5
