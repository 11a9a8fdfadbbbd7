"""Spellings of one value are folded alike, others are not."""

import pytest

from gateway.protection.folding import folded


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("Anna  SCHMIDT", "anna schmidt"),
        ("+49 (30) 90-18.20", "+4930901820"),
        ("a.b-1@acme.test", "a.b-1@acme.test"),
        ("Jo-Ann", "jo-ann"),
        ("４１１１ １１１１", "41111111"),
        ("Zoe\u0308", "zoë"),
    ],
)
def test_what_spellings_differ_in_is_removed(value: str, form: str) -> None:
    assert folded(value) == form
