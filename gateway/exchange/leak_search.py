"""Searches texts, in every encoding that can be read, for values that they must not hold."""

import re
from base64 import b32decode
from binascii import Error
from codecs import encode
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property

from gateway.detection.deobfuscation.search import text_variants
from gateway.detection.unicode_folding import compact
from gateway.exchange.dates import days

# From this many letters and digits on, a match inside a longer word is no coincidence.
_MIN_SUBSTRING = 6
# RFC 4648 section 6. Most long words match, but few decode to text.
_BASE32 = re.compile(r"(?<![^\W_])[A-Za-z2-7]{8,}(?![^\W_])")
_CODES = re.compile(r"(?<!\d)\d{2,3}(?:[ \t\n,;]{1,3}\d{2,3}){3,}(?!\d)")


class LeakSearch:
    """The readable forms of some texts.

    Deobfuscation belongs to detection; encodings that matter only for known values (rot13, reversal, …) are undone
    here.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        plain = self._plain = [reading for text in texts for reading in text_variants(text)]
        self._text = "\n".join([*plain, *(decoded for reading in plain for decoded in _decoded(reading))])
        forwards = compact(self._text)
        # One text for all, since no compact value has a line break.
        self._compact = "\n".join((forwards, forwards[::-1], encode(forwards, "rot13")))

    @cached_property
    def _days(self) -> set[date]:
        return {day for reading in self._plain for day in days(reading)}

    def holds(self, value: str | date) -> bool:
        """Tells whether the texts hold a value: a day or a long value in any spelling, a short one as a word."""
        if isinstance(value, date):
            return value in self._days
        plain = compact(value)
        if len(plain) >= _MIN_SUBSTRING:
            return plain in self._compact
        return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", self._text, re.IGNORECASE) is not None


def _decoded(text: str) -> Iterator[str]:
    """Yields the decoded base32 words and lists of decimal character codes in a text."""
    for match in _BASE32.finditer(text):
        whole = match[0].upper()
        try:
            yield b32decode(whole + "=" * (-len(whole) % 8)).decode()
        except (Error, UnicodeDecodeError):
            continue
    for match in _CODES.finditer(text):
        yield "".join(chr(int(code)) for code in re.findall(r"\d+", match[0]))
