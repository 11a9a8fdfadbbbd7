r"""Decodes escapes of string literals (RFC 8259, ECMAScript, C, Perl): `\u0040`, `\u{40}`, `\x{40}`, `\x40`,
`\U00000040`, `\/`, `\"`, `\n`, and characters whose UTF-8 is escaped byte by byte, as Python and git do:
`\xc3\xbc`, `\303\274`. Also decodes JSON nested in JSON, where each level doubles the backslashes.
"""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import edits_for_bytes, edits_for_run, folded_character, is_text

_SLASHES = re.compile(rb"\\+")
_ESCAPE = re.compile(
    rb"(?:((?:\\x[2-7][0-9A-Fa-f]){2,})|((?:\\u00[2-7][0-9A-Fa-f]){2,})"
    rb"|(\\+x[C-Fc-f][0-9A-Fa-f](?:\\+x[89ABab][0-9A-Fa-f]){1,3}|\\+3[0-7]{2}(?:\\+2[0-7]{2}){1,3})"
    rb"|\\+(?:u([0-9A-Fa-f]{4})|[ux]\{0{0,8}([0-9A-Fa-f]{1,6})\}|U00([0-9A-Fa-f]{6})|x([0-9A-Fa-f]{2})"
    rb"|([/\"'nrt@.\-_:+])))"
)
_SHORT_RUN, _LONG_RUN, _BYTES, _PUNCTUATION = 1, 2, 3, 8
_PREFILTER = r"\\[uUx][0-9A-Fa-f{]|\\[/\"'nrt@.\-_:+]|\\3[0-7]{2}\\+2[0-7]{2}"
_BYTE = re.compile(rb"\\+(?:x([0-9A-Fa-f]{2})|([0-7]{3}))")
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
        elif form == _BYTES:
            yield from _character_edits(data, start, end)
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


def _character_edits(data: bytes, start: int, end: int) -> Iterator[Edit]:
    """Yields the edit of a character in UTF-8. Bytes that are none are characters of Latin-1."""
    units = [(each.span(), int(each[1] or each[2], 16 if each[1] else 8)) for each in _BYTE.finditer(data, start, end)]
    if is_text(bytes(byte for _, byte in units)):
        yield from edits_for_bytes((*span, byte) for span, byte in units)
    else:
        yield from (Edit(*span, folded_character(byte) or b"") for span, byte in units)


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


DEOBFUSCATION = Deobfuscation("escapes", RewriteKind.DECODE, _PREFILTER, _escape_edits)
