"""The student's input: units of text, and the features of each."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.ner.unit_features import FEATURES, FIRST_FORM, GAPS, LISTS, ROWS, kind
from gateway.detection.ner.units import _UNIFORM, UnitReader, Units, _tables, in_other_scripts
from tests.tables import table

CASES = table(__file__)

LIST_OF_LETTERS = "aA äÄ éÉ ßẞ мМ γΓ 王 明 น 1 ٣ _-.,@'\u0301\u0327\u200d\n\t\u00a0\u2028\U0001f600\U00020000"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> UnitReader:
    folder = tmp_path_factory.mktemp("lists")
    (folder / "ordinary.txt").write_text("house\nmother-in-law\nwill\n", "utf-8")
    (folder / "given.txt").write_text("jörg\nwill\nwiebke\n", "utf-8")
    return UnitReader(folder / "ordinary.txt", folder / "given.txt")


def read(reader: UnitReader, text: str) -> Units:
    (own,) = reader.read_all([text])
    return own


@pytest.mark.parametrize(("text", "expected"), CASES["units"])
def test_units(reader: UnitReader, text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in read(reader, text).offsets] == expected


@given(st.lists(st.text(st.sampled_from(LIST_OF_LETTERS) | st.characters(), max_size=30), min_size=1, max_size=5))
def test_texts_do_not_depend_on_those_beside_them(reader: UnitReader, texts: list[str]) -> None:
    for text, together in zip(texts, reader.read_all(texts), strict=True):
        alone = read(reader, text)
        assert together.offsets == alone.offsets
        assert np.array_equal(together.rows, alone.rows)
        assert together.rows.shape == (len(together), FEATURES)
        assert not together.rows.size or (together.rows.min() >= 0 and together.rows.max() < ROWS)
        last = 0
        for start, end in together.offsets:
            assert last <= start < end <= len(text)
            assert not text[last:start].strip() or all(not char.isalnum() for char in text[last:start])
            last = end


def form(reader: UnitReader, text: str, word: str) -> int:
    """The last feature of a word: its case, length, lists, and the white space before it."""
    own = read(reader, text)
    return int(own.rows[own.offsets.index((text.index(word), text.index(word) + len(word))), -1])


def test_a_word_has_the_same_features_at_any_position(reader: UnitReader) -> None:
    first, second = read(reader, "Anna waits"), read(reader, "x " * 70_000 + "ANNA waits")
    assert np.array_equal(first.rows[0, :-1], second.rows[-2, :-1])
    assert np.array_equal(first.rows[1], second.rows[-1])


def test_the_form_tells_case_length_lists_and_white_space(reader: UnitReader) -> None:
    texts = ["a house", "a House", "a HOUSE", "a hoUse", "a houses", "a  house", "a\nhouse", "a\n house", "a\n\nhouse"]
    forms = [form(reader, text, text[1:].strip()) for text in texts]
    assert len(set(forms)) == len(forms)
    # A word of one list, of the other, of both, of none; all of one length and case.
    assert len({form(reader, f"a {word}", word) for word in ("mine", "jörg", "will")}) == 3
    assert form(reader, "a mother", "mother") == form(reader, "a wother", "wother")


def test_neighbours_tell_characters_of_unspaced_scripts_apart(reader: UnitReader) -> None:
    one, other, alone = (read(reader, text).rows[0] for text in ("王明", "王家", "王 明"))
    assert not np.array_equal(one, other)
    assert not np.array_equal(one, alone)
    assert np.array_equal(alone, read(reader, "王, 明").rows[0])


def test_letters_of_other_scripts(reader: UnitReader) -> None:
    text = "Zoë Đặng – €5, Анна и Κώστας 王 ក"
    own = read(reader, text)
    found = {
        text[start:end] for (start, end), other in zip(own.offsets, in_other_scripts(text, own), strict=True) if other
    }
    assert found == {"Анна", "и", "Κώστας", "王", "ក"}


def test_letters_of_other_forms_are_plain_ones(reader: UnitReader) -> None:
    plain = read(reader, "Anna Berg 12: x")
    for text in (
        "\U0001d400\U0001d427\U0001d427\U0001d41a \U0001d401\U0001d41e\U0001d42b\U0001d420 \U0001d7cf\U0001d7d0: x",
        "Ａｎｎａ Ｂｅｒｇ １２: x",
    ):
        assert np.array_equal(read(reader, text).rows, plain.rows)
    assert not np.array_equal(read(reader, "Anna Berg 12： x").rows, plain.rows)


def test_all_characters_are_classified_alike() -> None:
    kinds, lower = _tables()
    uniform = [code for first, last in _UNIFORM for code in range(first, last)]
    assert all(kinds[code] == kind(chr(code)) for code in uniform)
    assert all(lower[code] == 1 + ord(chr(code).lower()) for code in uniform)


def test_no_word_of_the_lists_is_lost() -> None:
    model = Path(__file__).parents[4] / "gateway" / "detection" / "ner" / "model"
    reader = UnitReader(model / "ordinary.txt", model / "given.txt")
    for file, bit in (("ordinary.txt", 1), ("given.txt", 2)):
        words = (model / file).read_text("utf-8").split()
        for own in reader.read_all(words):
            if len(own) == 1:
                assert (int(own.rows[0, -1]) - FIRST_FORM) // GAPS % LISTS & bit
