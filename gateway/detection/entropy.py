"""What the characters around and inside a value say: runs of base64, randomness, placeholders somebody left
to fill in.
"""

import re
from collections import Counter
from math import log2

_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = _UPPER.lower()
_DIGITS = b"0123456789"
_BASE64 = _UPPER + _LOWER + _DIGITS + b"+/"
_SIGNS = frozenset(_BASE64)
_LOOK = 160
_BLOB_LENGTH = 32
_SMALL = rb"([ .\-_/,;|:*+])(?:%s\%d)++"
_BEAT = re.compile(
    b"[0-9]" + _SMALL % (b"[0-9]", 1) + b"|(?:0[1-9]|[1-9][0-9])" + _SMALL % (b"(?:0[1-9]|[1-9][0-9])", 2)
)
_BEAT_ENDS = 8


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for lists that people read and extend."""
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """The comma-separated phrases of a text, in order."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


def inside_blob(data: bytes, start: int, end: int) -> bool:
    """Whether `data[start:end]` is a piece of a longer base64 run (RFC 4648, section 4), such as an image or
    a hash.

    Replacing it would corrupt the whole from the inside. Paths of words are no blobs: those mix upper case,
    lower case and digits, and not only at the beginnings of words.
    """
    if (start == 0 or data[start - 1] not in _SIGNS) and (end == len(data) or data[end] not in _SIGNS):
        return False
    before, after = data[max(0, start - _LOOK) : start], data[end : end + _LOOK]
    around = before[len(before.rstrip(_BASE64)) :] + after[: len(after) - len(after.lstrip(_BASE64))]
    if len(around) < _BLOB_LENGTH:
        return False
    lower, upper, digits = (len(around) - len(around.translate(None, each)) for each in (_LOWER, _UPPER, _DIGITS))
    return upper * 6 > len(around) and lower * 6 > len(around) and digits > 0


def in_step(data: bytes, before: int, start: int, end: int) -> int:
    """How many bytes a search may skip that found something at `before` and then at `start` (up to `end`), for all that
    follows looks the same to it: a row of numbers of one digit each, or two, with the same sign between them.
    """
    if not 0 <= before < start:
        return 0
    row = _BEAT.match(data, before)
    return 0 if row is None else max(0, (row.end() - _BEAT_ENDS - end) // (start - before) * (start - before))


def entropy(value: str) -> float:
    """Shannon entropy in bits per character; random base64 of 40 characters has about 4.7, English words
    about 3.
    """
    if not value:
        return 0.0
    total = len(value)
    return -sum(count / total * log2(count / total) for count in Counter(value).values())
