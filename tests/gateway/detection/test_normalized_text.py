"""Offsets in the normalized text map back to the source exactly, for any text."""

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.normalized_text import cover, normalize_text

SEQUENCES = "\x07\x1b\x9b\x9c"
ANY_TEXT = st.text(st.characters(exclude_categories=(), exclude_characters=SEQUENCES), max_size=400)


def byte_starts(data: bytes) -> list[int]:
    """Slow and obvious: where each character of the view begins, and where the last one ends."""
    starts, at = [], 0
    for char in data.decode():
        starts.append(at)
        at += len(char.encode())
    return [*starts, at]


CLUSTERS = (
    "a", "é", "e\u0301", "g\u0332\u0333", "\r\n", "\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f44d\U0001f3fd",
    "\u2764\ufe0f", "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7", "각", "\u1100\u1161\u11a8", "\uac00\u11a8",
    "\u0915\u094d\u0937\u093f", "\u0915\u094d\u0301\u0937", "\u0e01\u0e33", "x\u200d", "\u06001", "1\ufe0f\u20e3",
    "\U0001f3f4\U000e0067\U000e0062\U000e007f",
)  # fmt: skip


@given(st.lists(st.sampled_from(CLUSTERS), max_size=30), st.data())
def test_a_span_ends_where_a_character_ends_that_people_see(clusters: list[str], data: st.DataObject) -> None:
    """Unicode Standard Annex 29."""
    text = "".join(clusters)
    borders = [0, *accumulate(map(len, clusters))]
    view = normalize_text(text)
    starts = byte_starts(view.data)
    start = data.draw(st.sampled_from(starts))
    end = data.draw(st.sampled_from(starts))
    if start < end:
        ((first, last),) = view.source_spans([(start, end)])
        assert first in borders
        assert last in borders


@given(ANY_TEXT)
def test_every_character_of_the_view_comes_from_one_of_the_source(text: str) -> None:
    view = normalize_text(text)
    starts = byte_starts(view.data)
    spans = list(view.source_spans(pairwise(starts)))
    kept = [at for at in range(len(text)) if at not in set(view.removed)]
    for (start, end), at, char in zip(spans, kept, view.data.decode(), strict=True):
        assert start <= at < end
        assert char == text[at] or char == "\ufffd" or not text[at].isascii()


@given(st.text(st.characters(codec="ascii", exclude_characters=SEQUENCES)))
def test_ascii_is_its_own_view(text: str) -> None:
    view = normalize_text(text)
    assert view.data.decode() == text
    assert list(view.source_spans([(0, len(text))])) == [(0, len(text))]


def test_folds_what_looks_the_same_and_drops_what_cannot_be_seen() -> None:
    assert normalize_text("４１１１ａＢ＠．").data == b"4111aB@."
    assert normalize_text("٤١١١ ४१११").data == b"4111 4111"
    assert normalize_text("a\u200bb\u00adc\ufeffd\u2060e\u202ef\ufe0f").data == b"abcdef"
    assert normalize_text("1–2—3−4\u00a05\u202f6‘7”").data == b"1-2-3-4 5 6'7\""
    assert normalize_text("x²").data.decode() == "x²", "a footnote mark is no digit of the number before it"


def test_many_different_folds_take_the_other_way_to_the_same_result() -> None:
    every_digit = "".join(chr(0xFF10 + digit) for digit in range(10)) + "–—−‘’“”\u00a0\u2009\u200b"
    assert normalize_text(every_digit).data == b"0123456789---''\"\"  "


def test_a_span_never_ends_between_a_letter_and_its_accent() -> None:
    source = "I met Jose\u0301 there"
    start = normalize_text(source).data.index(b"Jose")
    assert list(normalize_text(source).source_spans([(start, start + 4)])) == [(6, 11)]


def test_a_covered_placeholder_is_blotted_out_and_what_follows_keeps_its_place() -> None:
    text = "my passport [US_PASSPORT_7KQ2M] é\u200b and [NOT_ONE], [US_SSN_AB2C3] [US_SSN_536904399] end"
    own = ("[US_PASSPORT_7KQ2M]", "[US_SSN_AB2C3]")
    for source in (text, text.replace("é\u200b", "e")):
        view = normalize_text(cover(source, [(source.index(each), source.index(each) + len(each)) for each in own]))
        assert b"PASSPORT" not in view.data
        assert b"AB2C3" not in view.data
        assert b"[US_SSN_536904399]" in view.data, "a number in brackets is no placeholder"
        for word in ("my", "passport", "and", "[NOT_ONE]", "[US_SSN_536904399]", "end"):
            at = view.data.index(word.encode())
            start = source.index(word)
            assert list(view.source_spans([(at, at + len(word))])) == [(start, start + len(word))]


def test_a_view_does_not_show_its_text() -> None:
    assert "jane" not in repr(normalize_text("jane doe"))
