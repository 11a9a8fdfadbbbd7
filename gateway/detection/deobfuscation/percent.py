"""Decodes percent-encoding (RFC 3986, section 2.1), including nested encoding, `%uXXXX`, and `+` in form data."""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import edits_for_bytes, edits_for_run, folded_character

_RUN = re.compile(rb"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*")
# `%2540` is `%40` is `@`: each level of encoding inserts a 25.
_NESTED = re.compile(rb"%(?:25)+([0-9A-Fa-f]{2})")
_UNICODE_ESCAPE = re.compile(rb"%(?:25)*u([0-9A-Fa-f]{4})")
_FIELD = re.compile(rb"[=?&][^\s&=?+<>\"']{1,256}(?:\+[^\s&=?+<>\"']{1,256}){1,16}")
_PLUS = re.compile(rb"\+")


def _percent_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    nested = [(unit.start(), unit.end(), int(unit[1], 16)) for unit in _NESTED.finditer(data)]
    yield from edits_for_bytes(nested)
    inside = {start for start, _, _ in nested}
    for run in _RUN.finditer(data):
        start, end = run.span()
        if end - 3 in inside:
            end -= 3  # the last unit begins a nested encoding
        if end > start:
            yield from edits_for_run(data[start:end], start, 3, b"%")
    if b"u" in data:
        for escape in _UNICODE_ESCAPE.finditer(data):
            character = folded_character(int(escape[1], 16))
            if character is not None:
                yield Edit(escape.start(), escape.end(), character)
    if b"+" in data:
        for form in _FIELD.finditer(data):
            for plus in _PLUS.finditer(form[0]):
                yield Edit(form.start() + plus.start(), form.start() + plus.end(), b" ", 0.9)


DEOBFUSCATION = Deobfuscation(
    "percent", RewriteKind.DECODE, r"%(?:[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|=[^\s&=]*\d\+\d", _percent_edits
)
