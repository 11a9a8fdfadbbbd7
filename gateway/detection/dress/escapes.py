r"""Escapes of string literals (RFC 8259, ECMAScript, C): `\u0040`, `\u{40}`, `\x40`, `\U00000040`, `\/`, `\"`, `\n`,
and those of JSON inside JSON, where each level doubles the backslashes.
"""

import re
from collections.abc import Iterator

from gateway.detection.dress.characters import folded
from gateway.detection.dress.dress import Dress, Kind, Taken
from gateway.detection.dress.rewrite import Edit

_ESCAPE = re.compile(
    rb"\\+(?:u([0-9A-Fa-f]{4})|u\{0{0,8}([0-9A-Fa-f]{1,6})\}|U00([0-9A-Fa-f]{6})|x([0-9A-Fa-f]{2})|([/\"'nrt@.\-_:+]))"
)
_SHORT = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    high: tuple[int, int] | None = None
    for found in _ESCAPE.finditer(data):
        if found[5] is not None:
            yield Edit(found.start(), found.end(), _SHORT.get(found[5], found[5]))
            continue
        code = int(found[1] or found[2] or found[3] or found[4], 16)
        if 0xD800 <= code < 0xDC00:
            high = found.start(), code
            continue
        start = found.start()
        if 0xDC00 <= code < 0xE000 and high is not None:
            start, code = high[0], 0x10000 + ((high[1] - 0xD800) << 10) + code - 0xDC00
        high = None
        shown = folded(code)
        if shown is not None:
            yield Edit(start, found.end(), shown)


DRESS = Dress("escapes", Kind.DECODE, r"\\[uUx][0-9A-Fa-f{]|\\[/\"'nrt@.\-_:+]", _edits)
