"""Answers below the question that they answer, with or without the name of who speaks: in `Your PIN?` and `4471` below
it, the question is the label.
"""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.rewrite import Edit

_SPEAKER = rb"(?:\*{0,2}[A-Z][\w.\-]{0,24}(?: [\w.\-]{1,24})?:\*{0,2}[ \t]{1,4})?"
_PLACE = re.compile(rb"\?[\"')*_]{0,3}[ \t]{0,4}(?:\r?\n[ \t>]{0,8}){1,2}" + _SPEAKER)


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    return (Edit(*found.span(), b": ", 0.5) for found in _PLACE.finditer(data))


DRESS = Deobfuscation("answered", Kind.DECODE, r"\?[\"')*_]{0,3}[ \t]{0,4}\r?\n", _edits, b"\n")
