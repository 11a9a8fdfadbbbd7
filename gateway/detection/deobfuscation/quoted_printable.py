"""Quoted-printable (RFC 2045, section 6.7): `=40`, and the soft line break that no reader sees."""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.characters import of_run
from gateway.detection.deobfuscation.rewrite import Edit

_RUN = re.compile(rb"=[0-9A-F]{2}(?:=[0-9A-F]{2})*")
# Letters and digits need no such writing: `size=41` is a size, unless several stand in a row. Of one byte, only signs
# that values have; where they look like a number before a number, there must be more of them.
_SURE = re.compile(
    rb"=[0-9A-F]{2}=[0-9A-F]{2}|"
    rb"=(?:(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F]))"
)
_BREAK = re.compile(rb"=\r?\n")
_NEXT = 10


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    place = _SURE.search(data)
    while place is not None and (run := _RUN.match(data, place.start())) is not None:
        end = run.end()
        yield from of_run(run[0], run.start(), 3, b"=", 0.6)
        place = _RUN.search(data, end, end + _NEXT) or _SURE.search(data, end)
    yield from [Edit(*found.span(), b"", 0.6) for found in _BREAK.finditer(data)]


_GATE = (
    r"=(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|=(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F])"
    r"|(?:=[2-7][0-9A-F]){2}|(?:=[C-F][0-9A-F]){2}|[A-Za-z0-9]=\r?\n"
)

DRESS = Deobfuscation("quoted_printable", Kind.DECODE, _GATE, _edits)
