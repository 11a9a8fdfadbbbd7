"""Percent-encoding (RFC 3986, section 2.1), any number of times over, `%uXXXX`, and the plus of form data."""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.characters import folded, of_bytes, of_run
from gateway.detection.deobfuscation.rewrite import Edit

_RUN = re.compile(rb"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*")
# `%2540` is `%40` is `@`: each further encoding adds a 25.
_NESTED = re.compile(rb"%(?:25)+([0-9A-Fa-f]{2})")
_WIDE = re.compile(rb"%(?:25)*u([0-9A-Fa-f]{4})")
_FIELD = re.compile(rb"[=?&][^\s&=?+<>\"']{1,256}(?:\+[^\s&=?+<>\"']{1,256}){1,16}")
_PLUS = re.compile(rb"\+")


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    nested = [(unit.start(), unit.end(), int(unit[1], 16)) for unit in _NESTED.finditer(data)]
    yield from of_bytes(nested)
    inside = {start for start, _, _ in nested}
    for run in _RUN.finditer(data):
        start, end = run.span()
        if end - 3 in inside:
            end -= 3  # its last unit is the beginning of what is encoded twice
        if end > start:
            yield from of_run(data[start:end], start, 3, b"%")
    if b"u" in data:
        for wide in _WIDE.finditer(data):
            shown = folded(int(wide[1], 16))
            if shown is not None:
                yield Edit(wide.start(), wide.end(), shown)
    if b"+" in data:
        for form in _FIELD.finditer(data):
            for plus in _PLUS.finditer(form[0]):
                yield Edit(form.start() + plus.start(), form.start() + plus.end(), b" ", 0.9)


DRESS = Deobfuscation("percent", Kind.DECODE, r"%(?:[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|=[^\s&=]*\d\+\d", _edits)
