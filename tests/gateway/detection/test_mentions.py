"""An `@` in a program is no mention, whichever recognizer finds it. A mentioned account is found next to code, too."""

import pytest

from gateway.detection import Detector
from gateway.detection.mentions import is_mention
from gateway.detection.ner.finder import NameFinder
from tests.tables import table

CASES = table(__file__)

PROGRAMS = CASES["programs"]
MENTIONS = CASES["mentions"]


def signs(text: str) -> list[bool]:
    return [is_mention(text[:at], text[at:]) for at, char in enumerate(text) if char == "@"]


@pytest.mark.parametrize("text", PROGRAMS)
def test_words_of_programs(text: str) -> None:
    assert not any(signs(text))


@pytest.mark.parametrize("text", MENTIONS)
def test_mentions(text: str) -> None:
    assert all(signs(text))


@pytest.mark.parametrize("text", PROGRAMS)
def test_neither_the_model_nor_a_recognizer_finds_them(names: NameFinder, detector: Detector, text: str) -> None:
    found = [*names.detect(text), *detector.detect(text)]
    assert [text[one.start : one.end] for one in found if one.type in {"USERNAME", "PERSON"}] == []


@pytest.mark.parametrize("text", ["thanks @anna_k!", "cc @jdoe", "@maria.lopez wrote", "* @jdoe: the tests"])
def test_the_model_finds_mentions(names: NameFinder, text: str) -> None:
    assert [one.type for one in names.detect(text)] == ["USERNAME"]
