"""Typical errors of the model are corrected; test_ner.py and test_known_names.py have more of them."""

import re

import pytest

from gateway.detection import Detector
from gateway.detection.ner.builtin_decoder import BuiltinDecoder, builtin_labels, with_plain_quotes
from gateway.detection.ner.label_decoder import ModelLabels
from gateway.detection.ner.spans import TokenLabel


@pytest.fixture(scope="module")
def labels(detector: Detector) -> ModelLabels:
    return ModelLabels(*builtin_labels(detector.types))


def found(labels: ModelLabels, text: str, value: str, type: str) -> list[tuple[str, str]]:
    """Returns the entities of a text in which the words `value` have the label of a type."""
    number = [one.name for one in labels.types].index(type) + 1
    offsets = [word.span() for word in re.finditer(r"\w+|[^\w\s]", text)]
    first = text.index(value)
    tokens = [at for at, (start, end) in enumerate(offsets) if first <= start and end <= first + len(value)]
    given = {at: TokenLabel(number, at == tokens[0], 0.9, 0.0) for at in tokens}
    return [(one.type, text[one.start : one.end]) for one in BuiltinDecoder(labels).entities(text, offsets, given)]


@pytest.mark.parametrize(
    ("text", "value", "type", "expected"),
    [
        ("We met Wiebke Hartung.", "Wiebke Hartung", "PERSON", [("PERSON", "Wiebke Hartung")]),
        ("Die Sonnencreme half.", "Sonnencreme", "PERSON", []),
        ('"city": "Austin"', "Austin", "PERSON", [("LOCATION", "Austin")]),
        ("Bill to", "Bill to", "PERSON", []),
        ("the LLM says", "LLM", "PERSON", [("ORGANIZATION", "LLM")]),
        ("born 12/05/1980", "1980", "DATE_OF_BIRTH", [("DATE_OF_BIRTH", "12/05/1980")]),
        ("ask odalys_fuentes", "odalys_fuentes", "USERNAME", [("USERNAME", "odalys_fuentes")]),
        ("file ABC", "ABC", "ID_NUMBER", []),
    ],
)
def test_corrections(labels: ModelLabels, text: str, value: str, type: str, expected: list[tuple[str, str]]) -> None:
    assert found(labels, text, value, type) == expected


def test_siblings_in_a_list(labels: ModelLabels) -> None:
    text = "- Wiebke Hartung: a\n- Jörg Fuchsberger: b\n- Odalys Fuentes: c\n"
    person = labels.types.index(next(one for one in labels.types if one.name == "PERSON")) + 1
    offsets = [word.span() for word in re.finditer(r"\w+|[^\w\s]", text)]
    given = {at: TokenLabel(person, at in {1, 6}, 0.9) for at in (1, 2, 6, 7)}
    names = [text[one.start : one.end] for one in BuiltinDecoder(labels).entities(text, offsets, given)]
    assert names == ["Wiebke Hartung", "Jörg Fuchsberger", "Odalys Fuentes"]


def test_quotes() -> None:
    assert with_plain_quotes("„Anna“ – «Berg»") == '"Anna" – "Berg"'
    assert with_plain_quotes("'Anna'") == "'Anna'"
