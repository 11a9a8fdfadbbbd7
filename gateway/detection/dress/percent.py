"""Percent-encoding (RFC 3986, section 2.1), any number of times over, `%uXXXX`, and the plus of form data."""

import re
from collections.abc import Iterator

from gateway.detection.dress.characters import folded, of_bytes
from gateway.detection.dress.dress import Dress, Kind, Taken
from gateway.detection.dress.rewrite import Edit

# `%2540` is `%40` is `@`: each further encoding adds a 25.
_UNIT = re.compile(rb"%(?:25)*([0-9A-Fa-f]{2})")
_WIDE = re.compile(rb"%(?:25)*u([0-9A-Fa-f]{4})")
_FIELD = re.compile(rb"[=?&][^\s&=+<>\"']{1,256}(?:\+[^\s&=+<>\"']{1,256}){1,16}")
_PLUS = re.compile(rb"\+")


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    yield from of_bytes((unit.start(), unit.end(), int(unit[1], 16)) for unit in _UNIT.finditer(data))
    if b"u" in data:
        for wide in _WIDE.finditer(data):
            shown = folded(int(wide[1], 16))
            if shown is not None:
                yield Edit(wide.start(), wide.end(), shown)
    if b"+" in data:
        for form in _FIELD.finditer(data):
            for plus in _PLUS.finditer(form[0]):
                yield Edit(form.start() + plus.start(), form.start() + plus.end(), b" ", 0.9)


DRESS = Dress("percent", Kind.DECODE, r"%(?:[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|=[^\s&=]*\d\+\d", _edits)
