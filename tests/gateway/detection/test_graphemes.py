"""Visible characters begin where Unicode's rules for grapheme clusters say."""

import pytest

from gateway.detection.graphemes import is_boundary


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("a\r\nb", [1, 3]),
        ("ae\u0301b", [1, 3]),
        ("👩\u200d👧x", [3]),
        ("🇩🇪🇫🇷", [2]),
        ("각\u11a8", []),
        ("क\u094dष", []),
        ("\u0600a", []),
    ],
)
def test_where_characters_start(text: str, starts: list[int]) -> None:
    assert [at for at in range(1, len(text)) if is_boundary(text, at)] == starts
