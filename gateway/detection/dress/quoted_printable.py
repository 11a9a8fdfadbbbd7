"""Quoted-printable (RFC 2045, section 6.7): `=40`, and the soft line break that no reader sees."""

import re
from collections.abc import Iterator

from gateway.detection.dress.characters import of_bytes
from gateway.detection.dress.dress import Dress, Kind, Taken
from gateway.detection.dress.rewrite import Edit

_UNIT = re.compile(rb"=([0-9A-Fa-f]{2})")
_BREAK = re.compile(rb"=\r?\n")


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    yield from of_bytes(((unit.start(), unit.end(), int(unit[1], 16)) for unit in _UNIT.finditer(data)), 0.6)
    for found in _BREAK.finditer(data):
        yield Edit(found.start(), found.end(), b"", 0.6)


DRESS = Dress("quoted_printable", Kind.DECODE, r"=[2-7][0-9A-Fa-f]|[A-Za-z0-9]=\r?\n", _edits)
