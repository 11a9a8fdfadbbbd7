"""The windows in which the transformer reads a text. They need no model."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.detection.ner.engine import windows


@given(st.integers(1, 2000))
def test_windows_cover_every_token_once(count: int) -> None:
    seen: list[int] = []
    for window in windows(count):
        assert window.first <= window.kept_first < window.kept_last <= window.last
        assert window.last - window.first <= 126
        seen += range(window.kept_first, window.kept_last)
    assert seen == list(range(count))


@given(st.integers(127, 2000))
def test_a_token_is_read_with_text_on_both_sides(count: int) -> None:
    for window in windows(count):
        assert window.kept_first == 0 or window.kept_first - window.first >= 7
        assert window.kept_last == count or window.last - window.kept_last >= 7
