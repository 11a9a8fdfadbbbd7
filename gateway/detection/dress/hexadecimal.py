"""Text written as hexadecimal bytes: `6a6f686e`, `6a 6f 68 6e`, `6a:6f:68:6e`, `0x6a, 0x6f`.

A run counts only if all of it is text, which a hash, a fingerprint or a picture is not.
"""

import re
from collections.abc import Iterator

from gateway.detection.dress.characters import is_text
from gateway.detection.dress.dress import Dress, Kind, Taken
from gateway.detection.dress.rewrite import Edit
from gateway.detection.recognizer import compile_pattern

# The bytes of ASCII text begin with 2 to 7.
_TIGHT = r"(?:[2-7][0-9A-Fa-f]){9}"
_LOOSE = r"(?:(?:0x|\\x)?[2-7][0-9A-Fa-f](?:[:\-]|,? )){8}"
_RUN = compile_pattern(
    rf"{_TIGHT}(?:[0-9A-Fa-f]{{2}})*|{_LOOSE}(?:(?:0x|\\x)?[0-9A-Fa-f]{{2}}(?:[:\-]|,? ))*(?:0x|\\x)?[0-9A-Fa-f]{{2}}\b"
)
_BYTE = re.compile(rb"(?:0x|\\x)?([0-9A-Fa-f]{2})")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_WHOLE = 96


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    for run in _RUN.finditer(data):
        start, end = run.span()
        if start and data[start - 1] in _HEX:
            continue
        text = run[0]
        tight = text.isalnum()  # the other form has signs between all its bytes
        raw = bytes.fromhex((text if tight else b"".join(_BYTE.findall(text))).decode("ascii"))
        if len(raw) < 8 or not is_text(raw):
            continue
        if end - start <= _WHOLE:
            yield Edit(start, end, raw)
        elif tight:
            yield Edit(start, end, raw, 0.0, (2, 1))
        else:
            units = [found.span() for found in _BYTE.finditer(text)]
            ends = [first for first, _ in units[1:]] + [len(text)]
            for (first, last), byte, following in zip(units, raw, ends, strict=True):
                yield Edit(start + first, start + (following if following < len(text) else last), bytes((byte,)))


DRESS = Dress("hexadecimal", Kind.UNPACK, rf"{_TIGHT}|{_LOOSE}", _edits)
