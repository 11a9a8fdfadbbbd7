"""Spans of names, from the labels of tokens. They need no model."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.ner.spans import TokenLabel, label_spans
from tests.tables import table

CASES = table(__file__)

PERSON = 1


def found(text: str, *marked: str) -> list[str]:
    """Returns the persons found in a text if the model labels the words in `marked`, each a token, as a person."""
    offsets: list[tuple[int, int]] = []
    labels: dict[int, TokenLabel] = {}
    at = 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        offsets.append((start, at))
        if word in marked:
            labels[len(offsets) - 1] = TokenLabel(PERSON, len(offsets) - 2 not in labels, 0.9)
    return [text[one.start : one.end] for one in label_spans(text, offsets, labels, persons=frozenset({PERSON}))]


@pytest.mark.parametrize(("text", "marked", "expected"), CASES["spans_as_a_person_would_draw_them"])
def test_spans_as_a_person_would_draw_them(text: str, marked: str, expected: list[str]) -> None:
    assert found(text, *marked.split()) == expected


def test_the_number_of_an_account_is_part_of_it() -> None:
    text = "tag Larsen#4417, or Larsen#12"
    labels = {number: TokenLabel(PERSON, True, 0.9) for number in range(2)}
    both = label_spans(text, [(4, 10), (20, 26)], labels, persons=frozenset({PERSON}))
    assert [text[one.start : one.end] for one in both] == ["Larsen#4417", "Larsen"]


def test_half_a_word_is_none() -> None:
    text = "Herr Oberhuber kam"
    offsets = [(0, 4), (5, 9), (9, 14), (15, 18)]
    labels = {1: TokenLabel(PERSON, True, 0.8), 2: TokenLabel(0, False, 0.6)}
    (one,) = label_spans(text, offsets, labels, persons=frozenset({PERSON}))
    assert text[one.start : one.end] == "Oberhuber"


def test_two_names_in_a_row_are_two() -> None:
    text = "Anna Bernd"
    labels = {0: TokenLabel(PERSON, True, 0.8), 1: TokenLabel(PERSON, True, 0.6)}
    both = list(label_spans(text, [(0, 4), (5, 10)], labels, persons=frozenset({PERSON})))
    assert [(one.start, one.end) for one in both] == [(0, 4), (5, 10)]


@given(st.text(max_size=60), st.data())
def test_spans_are_disjoint_and_inside(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), unique=True, max_size=20)))
    offsets = list(pairwise(cuts))
    labels = {
        index: TokenLabel(data.draw(st.integers(0, 2)), data.draw(st.booleans()), 0.9)
        for index in range(len(offsets))
        if data.draw(st.booleans())
    }
    last = 0
    for one in label_spans(text, offsets, labels, persons=frozenset({PERSON})):
        assert last <= one.start < one.end <= len(text)
        last = one.end
