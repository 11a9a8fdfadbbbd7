"""The kinds and forms of characters, and the rows of the student's table."""

import pytest

from gateway.detection.ner import unit_features as features
from gateway.detection.ner.unit_features import FIRST_FORM, FIRST_ROW, ROWS, SIZES, is_spaced, kind, lowercase, plain


@pytest.mark.parametrize(
    ("chars", "name"),
    [
        ("aßмα", "LOWER"),
        ("AÄMΓǅ", "UPPER"),
        ("אبக", "UNCASED"),
        ("王明น", "UNSPACED"),
        ("1٣½", "DIGIT"),
        ("\u0301\u093f", "MARK"),
        ("-@€\0\u200d", "SIGN"),
        (" \t\u00a0", "SPACE"),
        ("\n\u2028", "BREAK"),
    ],
)
def test_kinds(chars: str, name: str) -> None:
    assert {kind(char) for char in chars} == {getattr(features, name)}


def test_forms() -> None:
    assert [lowercase(char) - 1 for char in "AaÄ１İ"] == [*map(ord, "aaä1İ")]
    assert plain("\U0001d400") == "A"
    assert plain("\U0001d6fc") == "α"
    assert (is_spaced("a"), is_spaced("王")) == (True, False)


def test_the_rows_of_a_feature_follow_those_of_the_one_before() -> None:
    assert ROWS - SIZES["form"] == FIRST_FORM
    assert {name: FIRST_ROW[name] + size for name, size in SIZES.items()}["word"] == FIRST_ROW["stem"]
