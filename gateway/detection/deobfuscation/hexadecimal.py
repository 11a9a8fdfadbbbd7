"""Text written as hexadecimal bytes: `6a6f686e`, `6a 6f 68 6e`, `6a:6f:68:6e`, `0x6a, 0x6f`.

A run counts only if all of it is text, which a hash, a fingerprint or a picture is not.
"""

import re
from collections.abc import Iterator
from functools import partial

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.characters import is_text
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern

_MARK, _BETWEEN, _ANY = r"(?:0x|\\x)?", r"(?:[:\-]|,? )", "[0-9A-Fa-f]{2}"
# The bytes of ASCII text begin with 2 to 7; of another character (UTF-8), the first with c to f, the rest with 8 to b.
_ASCII, _FIRST, _REST = "[2-7][0-9A-Fa-f]", "[C-Fc-f][0-9A-Fa-f]", "[89ABab][0-9A-Fa-f]"
_OTHER = f"{_FIRST}(?:{_REST}){{1,3}}", f"{_FIRST}(?:{_BETWEEN}{_MARK}{_REST}){{1,3}}"
_TIGHT = f"(?:{_ASCII}){{8}}", f"(?:(?:{_ASCII}|{_OTHER[0]}){{8}}|(?:{_OTHER[0]}){{3}})"
_LOOSE = (
    f"(?:{_MARK}{_ASCII}{_BETWEEN}){{7}}{_MARK}{_ANY}",
    f"(?:(?:{_MARK}(?:{_ASCII}|{_OTHER[1]}){_BETWEEN}){{7}}|(?:{_MARK}{_OTHER[1]}{_BETWEEN}){{3}}){_MARK}{_ANY}",
)
_GATE, _GATE_OF_WORDS = (f"{tight}|{loose}" for tight, loose in zip(_TIGHT, _LOOSE, strict=True))
_RUN, _RUN_OF_WORDS = (
    compile_pattern(rf"{tight}(?:{_ANY})*|{loose}(?:{_BETWEEN}{_MARK}{_ANY})*\b")
    for tight, loose in zip(_TIGHT, _LOOSE, strict=True)
)
_BYTE = re.compile(rb"(?:0x|\\x)?[0-9A-Fa-f]{2}")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_SIGNS = b":-, "
_WHOLE = 96


def _edits(data: bytes, taken: Taken, runs: Expression = _RUN) -> Iterator[Edit]:
    for run in runs.finditer(data):
        start, end = run.span()
        # `%2540` is percent-encoded twice, and no hexadecimal behind a sign.
        if start and (data[start - 1] in _HEX or data[start - 1 : start + 2] == b"%25"):
            continue
        text = run[0]
        digits = text.replace(b"0x", b"").replace(b"\\x", b"").translate(None, _SIGNS)
        raw = bytes.fromhex(digits.decode("ascii"))
        if len(raw) < 8 or not is_text(raw):
            continue
        if end - start <= _WHOLE:
            yield Edit(start, end, raw)
        elif len(raw) * 2 == len(text):
            yield Edit(start, end, raw, 0.0, (2, 1))
        else:
            units = [found.span() for found in _BYTE.finditer(text)]
            ends = [first for first, _ in units[1:]] + [len(text)]
            for (first, last), byte, following in zip(units, raw, ends, strict=True):
                yield Edit(start + first, start + (following if following < len(text) else last), bytes((byte,)))


DRESS = Deobfuscation("hexadecimal", Kind.UNPACK, _GATE, _edits)
OF_WORDS = Deobfuscation("hexadecimal words", Kind.UNPACK, _GATE_OF_WORDS, partial(_edits, runs=_RUN_OF_WORDS))
"""Those of other letters, too."""
