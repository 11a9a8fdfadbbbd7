"""Findings of the models in columns whose header says that they hold no person."""

from collections.abc import Mapping, Sequence

import pytest

from gateway.detection.ner.columns import corrected
from gateway.detection.ner.finder import NameFinder
from gateway.detection.recognizer import EntityType
from gateway.models import Entity
from tests.tables import table

CASES = table(__file__)


def found(text: str, *values: str, type_name: str = "PERSON") -> list[Entity]:
    starts = [(text.index(value), value) for value in values]
    return [Entity(type_name, start, start + len(value), 0.9, "model") for start, value in sorted(starts)]


def left(text: str, *values: str, type_name: str = "PERSON") -> list[tuple[str, str]]:
    return [(text[one.start : one.end], one.type) for one in corrected(text, found(text, *values, type_name=type_name))]


@pytest.mark.parametrize("text", CASES["only_the_person_is_one"])
def test_only_the_person_is_one(text: str) -> None:
    assert left(text, "Ida Thistlewood", "Austin", "Chelsea Boot") == [
        ("Ida Thistlewood", "PERSON"),
        ("Austin", "LOCATION"),
    ]


def test_a_finding_over_several_cells_is_divided() -> None:
    text = "brand,customer,city\nStanton,Ida Thistlewood,Austin\n"
    assert left(text, "Stanton,Ida Thistlewood,Austin") == [("Ida Thistlewood", "PERSON"), ("Austin", "LOCATION")]


def test_a_number_in_a_column_of_amounts_is_no_age() -> None:
    assert left("item,qty\nLamp,34\n", "34", type_name="AGE") == []


@pytest.mark.parametrize(("text", "value"), CASES["other_persons_stay"])
def test_other_persons_stay(text: str, value: str) -> None:
    assert left(text, value) == [(value, "PERSON")]


def test_an_address_in_a_column_of_places_stays() -> None:
    text = "id,location\n1,12 Water Lane\n"
    assert left(text, "12 Water Lane", type_name="STREET_ADDRESS") == [("12 Water Lane", "STREET_ADDRESS")]


class ByCapitals:
    """Takes every word with a capital for a person."""

    version, hash = "capitals", ""
    types: Mapping[str, EntityType] = {}

    def rest(self) -> None:
        pass

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        return [tuple(found(text, *(word for word in text.split(",") if word.istitle()))) for text in texts]


def test_the_header_counts_for_all_blocks_of_a_long_table() -> None:
    names = [f"{first}{second}{third}" for first in "BCDFG" for second in "aeiou" for third in "lmnrstvwxz"]
    text = "number,brand,\n" + "\n".join(f"{number},{name.title()}," for number, name in enumerate(names))
    text += "\n" + "x" * 3000
    assert NameFinder(ByCapitals()).detect(text) == ()
    assert NameFinder(ByCapitals()).detect(text.replace("brand", "whom")) != ()


@pytest.mark.parametrize(("text", "value", "parts"), CASES["a_finding_is_divided_at_the_cells_of_its_line"])
def test_a_finding_is_divided_at_the_cells_of_its_line(text: str, value: str, parts: list[str]) -> None:
    assert [part for part, _ in left(text, value, type_name="STREET_ADDRESS")] == parts


def test_a_part_of_an_address_gets_its_own_type() -> None:
    text = "Ida Thistlewood   Ops   14   4417182   9 Elm Court"
    assert left(text, text, type_name="STREET_ADDRESS") == [
        ("Ida Thistlewood", "PERSON"),
        ("Ops", "LOCATION"),
        ("4417182", "ID_NUMBER"),
        ("9 Elm Court", "STREET_ADDRESS"),
    ]


def test_the_frame_of_a_card_is_no_person() -> None:
    text = "BEGIN:VCARD\r\nFN:Ida Thistlewood\r\nEND:VCARD\r\n"
    assert left(text, "VCARD", "Ida Thistlewood", "END:VCARD") == [("Ida Thistlewood", "PERSON")]


def test_a_code_of_a_list_is_no_number_of_a_patient() -> None:
    assert left("HI*ABK:E119~", "E119", type_name="MEDICAL_RECORD_NUMBER") == []
    assert left("MRN: E119", "E119", type_name="MEDICAL_RECORD_NUMBER") == [("E119", "MEDICAL_RECORD_NUMBER")]
