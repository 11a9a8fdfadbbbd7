"""Quoted-printable (RFC 2045, section 6.7): `=40`, and the soft line break that no reader sees."""

import re
from collections.abc import Iterator

from gateway.detection.dress.characters import of_run
from gateway.detection.dress.dress import Dress, Kind, Taken
from gateway.detection.dress.rewrite import Edit

_RUN = re.compile(rb"=[0-9A-F]{2}(?:=[0-9A-F]{2})*")
# Of one byte: only signs that values have. Where they look like a number before a number, there must be more of them.
_SIGN = re.compile(
    rb"=(?:(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F]))"
)
_BREAK = re.compile(rb"=\r?\n")
_NEXT = 8


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    last = -_NEXT
    for run in _RUN.finditer(data):
        start, end = run.span()
        # Letters and digits need no such writing: `size=41` is a size, unless several stand in a row.
        if end - start > 3 or start - last < _NEXT or _SIGN.match(data, start):
            yield from of_run(run[0], start, 3, b"=", 0.6)
            last = end
    for found in _BREAK.finditer(data):
        yield Edit(found.start(), found.end(), b"", 0.6)


_GATE = (
    r"=(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|=(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F])"
    r"|(?:=[2-7][0-9A-F]){2}|(?:=[C-F][0-9A-F]){2}|[A-Za-z0-9]=\r?\n"
)

DRESS = Dress("quoted_printable", Kind.DECODE, _GATE, _edits)
