"""Decodes quoted-printable (RFC 2045, section 6.7): `=40` and soft line breaks."""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import edits_for_run

_RUN = re.compile(rb"=[0-9A-F]{2}(?:=[0-9A-F]{2})*")
# Letters and digits are not encoded, so `size=41` is a size unless several codes follow each other. A single code has
# to be a sign that occurs in values, and one that reads as a number before a number needs a second code.
_SURE = re.compile(
    rb"=[0-9A-F]{2}=[0-9A-F]{2}|"
    rb"=(?:(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F]))"
)
_BREAK = re.compile(rb"=\r?\n")
_NEXT = 10


def _edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    match = _SURE.search(data)
    while match is not None and (run := _RUN.match(data, match.start())) is not None:
        end = run.end()
        yield from edits_for_run(run[0], run.start(), 3, b"=", 0.6)
        match = _RUN.search(data, end, end + _NEXT) or _SURE.search(data, end)
    yield from [Edit(*found.span(), b"", 0.6) for found in _BREAK.finditer(data)]


_PREFILTER = (
    r"=(?:2[BDEF]|3[AD]|5F|7E)[A-Za-z0-9+(.\-]|=(?:20|28|29|40)(?:[A-Za-z+]|[0-9]{1,6}=[2-7][0-9A-F])"
    r"|(?:=[2-7][0-9A-F]){2}|(?:=[C-F][0-9A-F]){2}|[A-Za-z0-9]=\r?\n"
)

DEOBFUSCATION = Deobfuscation("quoted_printable", RewriteKind.DECODE, _PREFILTER, _edits)
