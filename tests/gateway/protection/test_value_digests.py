"""Digests of values: equal for spellings of one value, and telling nothing without the key."""

import pytest

from gateway.protection.value_digests import MOST_VALUES, ValueDigests
from gateway.store.rows import MORE_VALUES
from tests.tables import table

CASES = table(__file__)

KEY = bytes(range(32))
DIGESTS = ValueDigests(KEY)


@pytest.mark.parametrize(("value", "other"), CASES["another_spelling_has_the_same_digest"])
def test_another_spelling_has_the_same_digest(value: str, other: str) -> None:
    assert DIGESTS.digest(value) == DIGESTS.digest(other)


@pytest.mark.parametrize(
    ("value", "other"),
    [("Anna Schmidt", "Anna Schmitt"), ("a-b@acme.test", "ab@acme.test"), ("Jo Ann", "Joann"), ("4111", "4112")],
)
def test_another_value_has_another_digest(value: str, other: str) -> None:
    assert DIGESTS.digest(value) != DIGESTS.digest(other)


def test_a_guess_can_be_tested_only_with_the_key() -> None:
    mine, other = ValueDigests(KEY), ValueDigests(KEY[::-1])
    assert mine.digest("Anna Schmidt") == DIGESTS.digest("Anna Schmidt") != other.digest("Anna Schmidt")
    assert mine.mark == DIGESTS.mark != other.mark
    assert len({len(digest) for digest in (mine.mark, mine.digest("a"), mine.digest("a" * 4096))}) == 1


def test_the_mark_of_the_key_is_the_digest_of_no_value() -> None:
    assert DIGESTS.mark not in {DIGESTS.digest(value) for value in ("", "mark", "value", "\0")}


def test_the_last_values_count_where_there_are_too_many() -> None:
    values = [f"name{number}@acme.test" for number in range(MOST_VALUES + 1)]
    some, most, more = (DIGESTS.digests(values[:number]) for number in (2, MOST_VALUES, MOST_VALUES + 1))
    assert set(some) == {DIGESTS.digest(value) for value in values[:2]}
    assert (len(most), MORE_VALUES in most) == (MOST_VALUES, False)
    assert set(more) == {MORE_VALUES, *(DIGESTS.digest(value) for value in values[1:])}


def test_spellings_of_one_value_make_one_digest() -> None:
    assert DIGESTS.digests(["Anna Schmidt", "ANNA SCHMIDT"]) == [DIGESTS.digest("anna schmidt")]
    assert DIGESTS.digests([]) == []


def test_one_digest_of_all_corrections_of_a_kind() -> None:
    """Bound to owner, kind and the parts of each value; confirmed only with the key."""
    digests = ValueDigests(b"k" * 32)
    made = [
        digests.of_all("key_anna", "allow", [("ab", "c")]),
        digests.of_all("key_anna", "allow", [("a", "bc")]),
        digests.of_all("key_anna", "deny", [("ab", "c")]),
        digests.of_all("key_ben", "allow", [("ab", "c")]),
        ValueDigests(b"o" * 32).of_all("key_anna", "allow", [("ab", "c")]),
    ]
    assert len(set(made)) == len(made)
    assert all(len(each) == 32 for each in made)
    assert made[0] == digests.of_all("key_anna", "allow", [("ab", "c")])
