"""Coarser values, and None for what cannot be read with certainty."""

import pytest

from gateway.policy.generalization import default_generalization, generalize
from tests.tables import table

CASES = table(__file__)


@pytest.mark.parametrize(("value", "expected"), CASES["a_date_becomes_its_year"])
def test_a_date_becomes_its_year(value: str, expected: str | None) -> None:
    assert generalize("DATE_TIME", value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1 Jan 1930", "1946 or earlier"), ("1946-12-31", "1946 or earlier"), ("1947-01-01", "1947"), ("1/2/30", None)],
)
def test_the_oldest_years_are_one(value: str, expected: str | None) -> None:
    assert generalize("DATE_OF_BIRTH", value, oldest_year=1946) == expected


@pytest.mark.parametrize(("value", "expected"), CASES["a_postcode_becomes_its_area"])
def test_a_postcode_becomes_its_area(value: str, expected: str | None) -> None:
    assert generalize("POSTAL_CODE", value) == expected


@pytest.mark.parametrize(("value", "expected"), CASES["an_ip_address_becomes_its_network"])
def test_an_ip_address_becomes_its_network(value: str, expected: str | None) -> None:
    assert generalize("IP_ADDRESS", value) == expected


@pytest.mark.parametrize(("value", "band", "age_90"), CASES["an_age_becomes_a_band"])
def test_an_age_becomes_a_band(value: str, band: str | None, age_90: str | None) -> None:
    assert generalize("AGE", value) == band
    assert generalize("AGE", value, to="age_90") == age_90


def test_default_generalizations() -> None:
    kinds = {
        "DATE_OF_BIRTH": "year",
        "DATE_TIME": "year",
        "AGE": "band",
        "ZIP_CODE": "area",
        "UK_POSTCODE": "area",
        "IP_ADDRESS": "network",
        "PERSON": None,
        "MESSAGE_ID": None,
    }
    assert {name: default_generalization(name) for name in kinds} == kinds
    assert generalize("PERSON", "Ada Lovelace") is None
    assert generalize("LOCATION", "Ely") is None


def test_the_rule_s_word_counts_more_than_the_type_s_name() -> None:
    assert generalize("VISIT", "12 May 1984", to="year") == "1984"
    assert generalize("IP_ADDRESS", "203.0.113.77", to="year") is None
