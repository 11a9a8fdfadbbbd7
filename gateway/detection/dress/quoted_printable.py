"""Quoted-printable (RFC 2045, section 6.7): `=40`, and the soft line break that no reader sees."""

import re
from collections.abc import Iterator

from gateway.detection.dress.characters import of_run
from gateway.detection.dress.dress import Dress, Kind, Taken
from gateway.detection.dress.rewrite import Edit

_RUN = re.compile(rb"=[0-9A-F]{2}(?:=[0-9A-F]{2})*")
_SIGN = re.compile(rb"=(?:2[0-9A-F]|3[A-F]|40|5[B-F]|60|7[B-E])[A-Za-z0-9+(.\-]")
_BREAK = re.compile(rb"=\r?\n")


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    for run in _RUN.finditer(data):
        # Letters and digits need no such writing: `size=41` is a size, unless several stand in a row.
        if run.end() - run.start() > 3 or _SIGN.match(data, run.start()):
            yield from of_run(run[0], run.start(), 3, b"=", 0.6)
    for found in _BREAK.finditer(data):
        yield Edit(found.start(), found.end(), b"", 0.6)


_GATE = (
    r"=(?:2[0-9A-F]|3[A-F]|40|5[B-F]|60|7[B-E])[A-Za-z0-9+(.\-]|(?:=[2-7][0-9A-F]){2}|(?:=[C-F][0-9A-F]){2}"
    r"|[A-Za-z0-9]=\r?\n"
)

DRESS = Dress("quoted_printable", Kind.DECODE, _GATE, _edits)
