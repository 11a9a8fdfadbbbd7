"""Knowledge besides the model: given names without a surname, and labels that are no part of an address."""

from pathlib import Path

import pytest

from gateway.detection import Detector
from gateway.detection.engines import Engines
from gateway.detection.ner.address_labels import without_labels
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.finder import NameFinder
from gateway.detection.ner.given_names import label_given_names
from gateway.detection.ner.ordinary_words import OrdinaryWords, WordList
from gateway.detection.ner.spans import TokenLabel
from gateway.models import Entity
from tests.tables import table

CASES = table(__file__)

PERSON = 1


@pytest.fixture(scope="module")
def full(detector: Detector, names: NameFinder) -> Engines:
    return Engines(detector, [names])


@pytest.fixture
def given(tmp_path: Path) -> WordList:
    file = tmp_path / "given.txt"
    file.write_text("\n".join(sorted(["malte", "sören", "wiebke", "ulf"])) + "\n", encoding="utf-8")
    return WordList(file)


def persons(text: str, names: WordList, odds: float, kind: int = 0) -> list[str]:
    """The words that become a person's, if every token is a word that may be one's with those odds."""
    offsets, at = [], 0
    for word in text.split(" "):
        offsets.append((at, at + len(word)))
        at += len(word) + 1
    labels = {index: TokenLabel(kind, False, 0.9, odds) for index in range(len(offsets))}
    ordinary = names
    found = label_given_names(text, offsets, labels, names=names, ordinary=ordinary, person=PERSON)
    return [text[slice(*offsets[index])] for index, label in found.items() if label.label_class == PERSON]


def test_a_given_name_is_believed_when_the_model_doubts(given: WordList) -> None:
    assert persons("Die Kollegin Wiebke vertritt Sören", given, 0.02) == ["Wiebke", "Sören"]
    assert persons("Die Kollegin Wiebke vertritt Sören", given, 0.01) == []


def test_a_family_name_after_it(given: WordList) -> None:
    assert persons("mit Malte Iwersen essen", given, 0.05) == ["Malte", "Iwersen"]
    assert persons("mit Malte essen gehen", given, 0.02) == ["Malte"]


@pytest.mark.parametrize(
    "text", ["die wiebke hier", "die Wiebken hier", "die @Wiebke hier", "die Wiebke() hier", "x-Malte"]
)
def test_no_given_name(given: WordList, text: str) -> None:
    assert persons(text, given, 0.4) == []


def test_another_class_of_the_model_stays(given: WordList) -> None:
    assert persons("nach Wiebke fahren", given, 0.4, kind=2) == []


def parts(text: str, start: int = 0, end: int | None = None) -> list[list[str]]:
    address = Entity("STREET_ADDRESS", start, len(text) if end is None else end, 0.9, "names")
    return [[one.type, text[one.start : one.end]] for one in without_labels(text, address)]


@pytest.mark.parametrize(("text", "expected"), CASES["labels_are_no_part_of_an_address"])
def test_labels_are_no_part_of_an_address(text: str, expected: list[list[str]]) -> None:
    assert parts(text) == expected


def test_half_a_label(tmp_path: Path) -> None:
    assert parts("SV-Nummer 9813", end=2) == []


def test_small_letters(tmp_path: Path) -> None:
    file = tmp_path / "ordinary.txt"
    file.write_text("schwanger\n")
    words = OrdinaryWords(file)
    assert words.covers("nach schwanger")
    assert words.covers("Schwanger")
    assert not words.covers("Davon")
    assert words.covers("davon")


def test_a_model_number_is_no_name(tmp_path: Path) -> None:
    file = tmp_path / "ordinary.txt"
    file.write_text("makita\n")
    words = OrdinaryWords(file)
    assert words.covers("Makita DDF484")
    assert not words.covers("jane42 Makita")
    assert not words.covers("BRCA1")


@pytest.mark.parametrize(("text", "users"), CASES["a_part_of_a_path_or_a_program_is_no_user"])
def test_a_part_of_a_path_or_a_program_is_no_user(full: Engines, text: str, users: list[str]) -> None:
    found = full.detect(text)
    assert {text[one.start : one.end] for one in found if one.type == "USERNAME" and one.score >= 0.5} == set(users)


def test_doses_are_no_address(full: Engines) -> None:
    found = full.detect("uso de losartana 50mg, metformina 850mg e AAS 100mg")
    assert not [one for one in found if one.type == "STREET_ADDRESS"]


@pytest.mark.parametrize(
    "text", ["Warszawa jest większa niż Praga.", "Москва больше, чем Париж.", "上海比重庆大。", "서울은 부산보다 크다."]
)
def test_a_place_is_no_person(full: Engines, text: str) -> None:
    assert not [one for one in full.detect(text) if one.type == "PERSON"]


@pytest.mark.parametrize(("text", "value", "kept"), CASES["no_address_of_headers_or_prepositions"])
def test_no_address_of_headers_or_prepositions(model: BuiltinModel, text: str, value: str, kept: bool) -> None:
    start = text.index(value)
    found = Entity("STREET_ADDRESS", start, start + len(value), 0.9, "model")
    assert bool(list(model._decoder._correct(text, found))) == kept
