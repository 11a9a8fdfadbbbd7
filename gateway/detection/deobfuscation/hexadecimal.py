"""Decodes text written as hexadecimal bytes: `6a6f686e`, `6a 6f 68 6e`, `6a:6f:68:6e`, `0x6a, 0x6f`.

A run counts only if all of it decodes to text, unlike hashes, fingerprints and images.
"""

import re
from collections.abc import Iterator
from functools import partial

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import is_text
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern

_PREFIX, _SEPARATOR, _ANY = r"(?:0x|\\x)?", r"(?:[:\-]|,? )", "[0-9A-Fa-f]{2}"
# ASCII bytes start with 2 to 7. Of other characters in UTF-8, the first byte starts with c to f, the rest with 8 to b.
_ASCII, _LEADING, _CONTINUATION = "[2-7][0-9A-Fa-f]", "[C-Fc-f][0-9A-Fa-f]", "[89ABab][0-9A-Fa-f]"
_NON_ASCII = f"{_LEADING}(?:{_CONTINUATION}){{1,3}}", f"{_LEADING}(?:{_SEPARATOR}{_PREFIX}{_CONTINUATION}){{1,3}}"
_TIGHT = f"(?:{_ASCII}){{8}}", f"(?:(?:{_ASCII}|{_NON_ASCII[0]}){{8}}|(?:{_NON_ASCII[0]}){{3}})"
_LOOSE = (
    f"(?:{_PREFIX}{_ASCII}{_SEPARATOR}){{7}}{_PREFIX}{_ANY}",
    f"(?:(?:{_PREFIX}(?:{_ASCII}|{_NON_ASCII[1]}){_SEPARATOR}){{7}}|(?:{_PREFIX}{_NON_ASCII[1]}{_SEPARATOR}){{3}}){_PREFIX}{_ANY}",
)
_PREFILTER, _PREFILTER_OF_WORDS = (f"{tight}|{loose}" for tight, loose in zip(_TIGHT, _LOOSE, strict=True))
_RUN, _RUN_OF_WORDS = (
    compile_pattern(rf"{tight}(?:{_ANY})*|{loose}(?:{_SEPARATOR}{_PREFIX}{_ANY})*\b")
    for tight, loose in zip(_TIGHT, _LOOSE, strict=True)
)
_BYTE = re.compile(rb"(?:0x|\\x)?[0-9A-Fa-f]{2}")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_SEPARATORS = b":-, "
_MAX_WHOLE = 96


def _hexadecimal_edits(data: bytes, detected: DetectedSpans, runs: Expression = _RUN) -> Iterator[Edit]:
    for run in runs.finditer(data):
        start, end = run.span()
        # `%2540` is percent-encoded twice; its digits are not a hexadecimal run.
        if start and (data[start - 1] in _HEX or data[start - 1 : start + 2] == b"%25"):
            continue
        text = run[0]
        digits = text.replace(b"0x", b"").replace(b"\\x", b"").translate(None, _SEPARATORS)
        raw = bytes.fromhex(digits.decode("ascii"))
        if len(raw) < 8 or not is_text(raw):
            continue
        if end - start <= _MAX_WHOLE:
            yield Edit(start, end, raw)
        elif len(raw) * 2 == len(text):
            yield Edit(start, end, raw, 0.0, (2, 1))
        else:
            units = [found.span() for found in _BYTE.finditer(text)]
            ends = [first for first, _ in units[1:]] + [len(text)]
            for (first, last), byte, following in zip(units, raw, ends, strict=True):
                yield Edit(start + first, start + (following if following < len(text) else last), bytes((byte,)))


DEOBFUSCATION = Deobfuscation("hexadecimal", RewriteKind.UNPACK, _PREFILTER, _hexadecimal_edits)
FOR_KNOWN_VALUES = Deobfuscation(
    "hexadecimal_known_values", RewriteKind.UNPACK, _PREFILTER_OF_WORDS, partial(_hexadecimal_edits, runs=_RUN_OF_WORDS)
)
"""Also decodes text beyond ASCII."""
