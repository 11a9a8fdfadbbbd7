"""What the characters around and inside a value say: runs of base64, randomness, placeholders somebody left
to fill in.
"""

from collections import Counter
from math import log2

_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LOWER = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset(b"0123456789")
_LOOK = 160
_BLOB_LENGTH = 32


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
    if (start == 0 or data[start - 1] not in _BASE64) and (end == len(data) or data[end] not in _BASE64):
        return False
    first = start
    while first > 0 and start - first < _LOOK and data[first - 1] in _BASE64:
        first -= 1
    last = end
    while last < len(data) and last - end < _LOOK and data[last] in _BASE64:
        last += 1
    around = data[first:start] + data[end:last]
    if len(around) < _BLOB_LENGTH:
        return False
    upper = sum(byte in _UPPER for byte in around)
    lower = sum(byte in _LOWER for byte in around)
    digits = sum(byte in _DIGITS for byte in around)
    return upper * 6 > len(around) and lower * 6 > len(around) and digits > 0


def entropy(value: str) -> float:
    """Shannon entropy in bits per character; random base64 of 40 characters has about 4.7, English words
    about 3.
    """
    if not value:
        return 0.0
    total = len(value)
    return -sum(count / total * log2(count / total) for count in Counter(value).values())
