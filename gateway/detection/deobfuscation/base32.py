"""Decodes base32 (RFC 4648, section 6), padded or not, in capitals or lower case.

A run counts only if all of it decodes to text. Up to seven preceding letters may belong to another word.
"""

from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import is_text
from gateway.detection.recognizer import compile_pattern

# In lower case, most words are shorter.
_RUN = "(?:[A-Z2-7]{12,}|[a-z2-7]{16,})={0,6}"
_EXPRESSION = compile_pattern(_RUN)
# Python reads numbers of base 32, in digits of its own, much faster than `b32decode` decodes.
_TO_DIGITS = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghijklmnopqrstuv")
_MAX_WHOLE = 96


def _edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for run in _EXPRESSION.finditer(data):
        start, end = run.span()
        for begin in range(start, start + 8):
            digits = data[begin:end].rstrip(b"=").upper().translate(_TO_DIGITS)
            size, rest = divmod(len(digits) * 5, 8)
            raw = (int(digits, 32) >> rest).to_bytes(size)
            if is_text(raw):
                yield Edit(begin, end, raw, 0.0, None if end - begin <= _MAX_WHOLE else (8, 5))
                break


FOR_KNOWN_VALUES = Deobfuscation("base32_known_values", RewriteKind.UNPACK, _RUN, _edits)
