import sys
import unicodedata

import pytest

from gateway.detection.alphabet import LETTERS
from gateway.detection.recognizer import compile_pattern

_LETTER = compile_pattern(f"[{LETTERS}]")
# Claudian letters and one of Cyrillic script, which are out of use.
_LEFT_OUT = frozenset("\u2132\u214e\u2183\u2184\u2e2f")
_SIGNS = (
    "0 9 _ - ' . , ; : ! ? @ ( ) [ ] { } < > / \\ \" « » “ ” ‘ ’ „ – — … • · ° § € 、 。 「 」 ・ ، ؛ ؟ । ॥ 😀 → ™ × ÷"
)


def _in(char: str) -> bool:
    return _LETTER.fullmatch(char.encode()) is not None


@pytest.mark.slow
def test_every_letter_that_a_view_can_hold_is_in_it() -> None:
    """A view holds text in its compatibility composition (NFKC)."""
    letters = {char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char).startswith("L")}
    missing = {char for char in letters if unicodedata.normalize("NFKC", char) == char and not _in(char)}
    assert missing == _LEFT_OUT


@pytest.mark.parametrize("char", _SIGNS.split())
def test_signs_are_not(char: str) -> None:
    assert not _in(char)
