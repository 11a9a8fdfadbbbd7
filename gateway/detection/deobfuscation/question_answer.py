"""Joins an answer to the question on the line above, with or without the speaker's name: in `Your PIN?` followed by
`4471`, the question is the label.
"""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, RewriteKind
from gateway.detection.deobfuscation.rewrite import Edit

_SPEAKER = rb"(?:\*{0,2}[A-Z][\w.\-]{0,24}(?: [\w.\-]{1,24})?:\*{0,2}[ \t]{1,4})?"
_LINE_BREAK = re.compile(rb"\?[\"')*_]{0,3}[ \t]{0,4}(?:\r?\n[ \t>]{0,8}){1,2}" + _SPEAKER)


def _edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    return (Edit(*found.span(), b": ", 0.5) for found in _LINE_BREAK.finditer(data))


DEOBFUSCATION = Deobfuscation("question_answer", RewriteKind.DECODE, r"\?[\"')*_]{0,3}[ \t]{0,4}\r?\n", _edits, b"\n")
