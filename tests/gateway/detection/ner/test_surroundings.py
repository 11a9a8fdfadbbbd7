"""The text around a finding of the model of names corrects it."""

import pytest

from gateway.detection.ner.surroundings import is_birth_date, is_goods, is_in_place, is_label
from gateway.models import Entity
from tests.tables import table

CASES = table(__file__)


def in_place(text: str, value: str, type_name: str = "PERSON") -> bool:
    start = text.index(value)
    return is_in_place(text, Entity(type_name, start, start + len(value), 0.9, "model"))


@pytest.mark.parametrize(("text", "value"), CASES["a_person_behind_the_label_of_a_place_is_one"])
def test_a_person_labelled_as_a_place_is_a_place(text: str, value: str) -> None:
    assert in_place(text, value)


@pytest.mark.parametrize(("text", "value"), CASES["other_persons_stay"])
def test_other_persons_stay(text: str, value: str) -> None:
    assert not in_place(text, value)


def test_an_address_of_a_city_and_its_state_is_a_place() -> None:
    assert in_place("San Antonio, TX | 210 555 0154", "San Antonio, TX", "STREET_ADDRESS")
    assert in_place("('Macon', 'GA')", "GA", "STREET_ADDRESS")
    assert not in_place("The Oast, Water Lane", "The Oast, Water Lane", "STREET_ADDRESS")
    assert not in_place("12 San Antonio, TX", "12 San Antonio, TX", "STREET_ADDRESS")


@pytest.mark.parametrize(
    "value", ["3/19/84", "17-Feb-1995", "4 May 81", "born in 1984", "19750501", "27 November", "the 3rd of"]
)
def test_dates_of_birth(value: str) -> None:
    assert is_birth_date(value)


@pytest.mark.parametrize("value", ["y/o", "140s/80s", "november", "Thursday"])
def test_no_dates_of_birth(value: str) -> None:
    assert not is_birth_date(value)


@pytest.mark.parametrize(("text", "value", "expected"), CASES["a_label_is_nobody"])
def test_a_label_is_no_person(text: str, value: str, expected: bool) -> None:
    start = text.index(value)
    assert is_label(text, Entity("PERSON", start, start + len(value), 0.9, "model")) is expected


@pytest.mark.parametrize(("text", "expected"), CASES["what_stands_behind_the_label_of_goods"])
def test_a_value_labelled_as_a_brand_is_no_person(text: str, expected: bool) -> None:
    start = text.index("Ted Baker")
    assert is_goods(text, Entity("PERSON", start, start + 9, 0.9, "model")) is expected
