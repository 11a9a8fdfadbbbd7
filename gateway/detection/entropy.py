"""Measures the characters in and around a value: entropy, base64 runs, rows of small numbers."""

import re
from collections import Counter
from math import log2

_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = _UPPER.lower()
_DIGITS = b"0123456789"
_BASE64 = _UPPER + _LOWER + _DIGITS + b"+/"
_BASE64_BYTES = frozenset(_BASE64)
_BLOB_CONTEXT = 160
_BLOB_LENGTH = 32
_REPEATED = rb"([ .\-_/,;|:*+])(?:%s\%d)++"
_NUMBER_ROW = re.compile(
    b"[0-9]" + _REPEATED % (b"[0-9]", 1) + b"|(?:0[1-9]|[1-9][0-9])" + _REPEATED % (b"(?:0[1-9]|[1-9][0-9])", 2)
)
_ROW_END = 8


def word_set(text: str) -> frozenset[str]:
    """Returns the words of a text, so that word lists stay easy to read and extend."""
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """Returns the comma-separated phrases of a text, in order."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


def inside_blob(data: bytes, start: int, end: int) -> bool:
    """Returns whether `data[start:end]` is part of a longer base64 run (RFC 4648, section 4), such as an image or hash.

    Replacing part of such a run would corrupt it. A path made of words does not count: the surrounding run has to mix
    upper case, lower case and digits.
    """
    if (start == 0 or data[start - 1] not in _BASE64_BYTES) and (end == len(data) or data[end] not in _BASE64_BYTES):
        return False
    before, after = data[max(0, start - _BLOB_CONTEXT) : start], data[end : end + _BLOB_CONTEXT]
    around = before[len(before.rstrip(_BASE64)) :] + after[: len(after) - len(after.lstrip(_BASE64))]
    if len(around) < _BLOB_LENGTH:
        return False
    lower, upper, digits = (len(around) - len(around.translate(None, each)) for each in (_LOWER, _UPPER, _DIGITS))
    return upper * 6 > len(around) and lower * 6 > len(around) and digits > 0


def periodic_skip(data: bytes, before: int, start: int, end: int) -> int:
    """Returns how many bytes a search may skip in a row of one- or two-digit numbers with a constant separator.

    The search matched at `before` and next at `start` (up to `end`); the rest of such a row matches the same way.
    """
    if not 0 <= before < start:
        return 0
    row = _NUMBER_ROW.match(data, before)
    return 0 if row is None else max(0, (row.end() - _ROW_END - end) // (start - before) * (start - before))


def entropy(value: str) -> float:
    """Returns the Shannon entropy in bits per character: about 4.7 for 40 characters of random base64, 3 for English
    words.
    """
    if not value:
        return 0.0
    total = len(value)
    return -sum(count / total * log2(count / total) for count in Counter(value).values())
