r"""Decodes escapes of string literals (RFC 8259, ECMAScript, C): `\u0040`, `\u{40}`, `\x40`, `\U00000040`, `\/`, `\"`,
`\n`. Also decodes JSON nested in JSON, where each level doubles the backslashes.
"""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import edits_for_run, folded_character

_SLASHES = re.compile(rb"\\+")
_ESCAPE = re.compile(
    rb"(?:((?:\\x[2-7][0-9A-Fa-f]){2,})|((?:\\u00[2-7][0-9A-Fa-f]){2,})"
    rb"|\\+(?:u([0-9A-Fa-f]{4})|u\{0{0,8}([0-9A-Fa-f]{1,6})\}|U00([0-9A-Fa-f]{6})|x([0-9A-Fa-f]{2})|([/\"'nrt@.\-_:+])))"
)
_SHORT_RUN, _LONG_RUN, _PUNCTUATION = 1, 2, 7
_SHORT = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _escape_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    high: tuple[int, int] | None = None
    for found in _escapes(data):
        start, end = found.span()
        form = found.lastindex or 0
        value = found[form]
        if form == _PUNCTUATION:
            yield Edit(start, end, _SHORT.get(value, value))
        elif form == _SHORT_RUN:
            yield from edits_for_run(value, start, 4, b"\\x")
        elif form == _LONG_RUN:
            yield from edits_for_run(value, start, 6, b"\\u00")
        else:
            code = int(value, 16)
            if 0xD800 <= code < 0xDC00:
                high = start, code
                continue
            if 0xDC00 <= code < 0xE000 and high is not None:
                start, code = high[0], 0x10000 + ((high[1] - 0xD800) << 10) + code - 0xDC00
            high = None
            character = folded_character(code)
            if character is not None:
                yield Edit(start, end, character)


def _escapes(data: bytes) -> Iterator[re.Match[bytes]]:
    """Yields escapes. Tries each row of backslashes only at its start, to stay linear."""
    at = data.find(b"\\")
    while at >= 0:
        found = _ESCAPE.match(data, at)
        if found is not None:
            yield found
            at = data.find(b"\\", found.end())
        else:
            row = _SLASHES.match(data, at)
            at = data.find(b"\\", at + 1 if row is None else row.end())


DEOBFUSCATION = Deobfuscation("escapes", RewriteKind.DECODE, r"\\[uUx][0-9A-Fa-f{]|\\[/\"'nrt@.\-_:+]", _escape_edits)
