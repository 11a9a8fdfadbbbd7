"""Folds characters to the ones a reader would take them for, and removes invisible ones.

Each character maps to one character or none, so folded text is never longer than its source and offsets map back
exactly. Source: Unicode Standard Annex 15 (NFKC) and the general categories of the Unicode Character Database.
"""

import unicodedata

from gateway.detection.terminal_sequences import HIDDEN

# Invisible, although Unicode classes them as letters or marks: grapheme joiner, variation selectors, Hangul fillers,
# Khmer vowels.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))
_INVISIBLE |= frozenset(map(chr, (*range(0x180B, 0x1810), *range(0xE0100, 0xE01F0), 0x2800, ord(HIDDEN))))
_QUOTES = dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'") | dict.fromkeys(
    "\u201c\u201d\u201e\u201f\u2033", '"'
)
_SINGLES = (
    _QUOTES
    | {"\u2028": "\n", "\u2029": "\n", "\u2044": "/", "\u2215": "/", "\u2236": ":", "\ua789": ":", "\u02d0": ":"}
    | dict.fromkeys("\u2212\u2043\u02d7", "-")
    | dict.fromkeys("\u3002\u2024\u06d4\ua4f8\u066b", ".")
)
# Negative squared and circled letters have no decomposition in Unicode.
_NEGATIVE_LETTERS = {first + at: chr(65 + at) for first in (0x1F150, 0x1F170) for at in range(26)}
_BY_CATEGORY = {"Cf": "", "Zs": " ", "Pd": "-"}


def fold_character(char: str) -> str:
    """Returns the character a reader would take `char` for: itself, another one, or '' if it is invisible.

    Superscripts stay as they are: a footnote mark after a number is not one of its digits.
    """
    if char in _INVISIBLE:
        return ""
    if char in _SINGLES:
        return _SINGLES[char]
    category = unicodedata.category(char)
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category in {"No", "So"} and ord(char) in _NEGATIVE_LETTERS:
        return _NEGATIVE_LETTERS[ord(char)]
    if category == "Cs":  # a lone surrogate, which UTF-8 cannot encode
        return "\ufffd"
    if unicodedata.decomposition(char).startswith(("<super>", "<sub>")):
        return char
    if category == "No" and (digit := unicodedata.digit(char, None)) is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


class _FoldingTable(dict[int, str]):
    def __missing__(self, code: int) -> str:
        folded = self[code] = fold_character(chr(code))
        return folded


FOLDING = _FoldingTable()
"""A table for `str.translate`, filled on demand: a text uses only a small part of Unicode."""


class _CompactTable(dict[int, str | None]):
    """Filled on demand. None, not '', for what goes: with it `str.translate` is fast for text that is ASCII."""

    def __missing__(self, code: int) -> str | None:
        folded = fold_character(chr(code)).casefold()
        kept = self[code] = folded if folded.isalnum() else None
        return kept


_COMPACT = _CompactTable()
ASCII_SEPARATORS = bytes(code for code in range(0x80) if not chr(code).isalnum())
"""All ASCII characters but letters and digits."""


def compact(text: str) -> str:
    """Returns only the letters and digits of a text, in lower case, by which two spellings of a value are equal."""
    if text.isascii():
        return text.lower().encode().translate(None, ASCII_SEPARATORS).decode()
    return text.translate(_COMPACT)
