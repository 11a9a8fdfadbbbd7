"""The folded view leads back to the source exactly, whatever the text is made of."""

import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.view import read

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=400)


def byte_starts(data: bytes) -> list[int]:
    """Slow and obvious: where each character of the view begins, and where the last one ends."""
    starts, at = [], 0
    for char in data.decode():
        starts.append(at)
        at += len(char.encode())
    return [*starts, at]


@given(ANY_TEXT)
def test_every_character_of_the_view_comes_from_one_of_the_source(text: str) -> None:
    view = read(text)
    starts = byte_starts(view.data)
    spans = list(view.source_spans(pairwise(starts)))
    kept = [at for at in range(len(text)) if at not in set(view.removed)]
    assert [start for start, _ in spans] == kept
    for (start, end), char in zip(spans, view.data.decode(), strict=True):
        assert end > start
        # What follows the character inside its span are only marks that sit on it.
        assert all(unicodedata.category(mark)[0] == "M" for mark in text[start + 1 : end])
        if char == text[start]:
            continue
        assert char == "\ufffd" or not text[start].isascii()


@given(st.text(st.characters(codec="ascii")))
def test_ascii_is_its_own_view(text: str) -> None:
    view = read(text)
    assert view.data.decode() == text
    assert list(view.source_spans([(0, len(text))])) == [(0, len(text))]


def test_folds_what_looks_the_same_and_drops_what_cannot_be_seen() -> None:
    assert read("４１１１ａＢ＠．").data == b"4111aB@."
    assert read("٤١١١ ४१११").data == b"4111 4111"
    assert read("a\u200bb\u00adc\ufeffd\u2060e\u202ef\ufe0f").data == b"abcdef"
    assert read("1–2—3−4\u00a05\u202f6‘7”").data == b"1-2-3-4 5 6'7\""
    assert read("x²").data.decode() == "x²", "a footnote mark is no digit of the number before it"


def test_many_different_folds_take_the_other_way_to_the_same_result() -> None:
    every_digit = "".join(chr(0xFF10 + digit) for digit in range(10)) + "–—−‘’“”\u00a0\u2009\u200b"
    assert read(every_digit).data == b"0123456789---''\"\"  "


def test_a_span_never_ends_between_a_letter_and_its_accent() -> None:
    source = "I met Jose\u0301 there"
    start = read(source).data.index(b"Jose")
    assert list(read(source).source_spans([(start, start + 4)])) == [(6, 11)]


def test_a_view_does_not_show_its_text() -> None:
    assert "jane" not in repr(read("jane doe"))
