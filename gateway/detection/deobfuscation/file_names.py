"""Reads the names of documents as words: `Lebenslauf_Wiebke_Hartung.pdf`. Files of programs are named after no one."""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.recognizer import compile_pattern

_KINDS = (
    "avif|bmp|csv|docx?|eml|gif|hei[cf]|jpe?g|m4a|mov|mp[34]|msg|od[pst]|pdf|png|ppt[mx]?|rtf|tiff?|txt|vcf|wav"
    "|webm|webp|xls[bmx]?|zip"
)
_PART = r"""[^\s"'`<>()\[\]{}|/\\:;,*?=&#$@_\-]"""
_NAME = compile_pattern(rf"{_PART}+(?:[_\-]{_PART}+)*\.(?i:{_KINDS})\b", captures=False)
# Also before a capital within a word, and before the kind.
_SEPARATORS = re.compile(rb"[_-]|\.(?=\w+\Z)|(?<=[a-z])(?=[A-Z])")
_LONGEST = 255
"""Bytes of a name, on most systems."""


def _edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for name in _NAME.finditer(data):
        start, end = name.span()
        if end - start > _LONGEST:
            continue
        for separator in _SEPARATORS.finditer(data[start:end]):
            yield Edit(start + separator.start(), start + separator.end(), b" ")


FOR_NAMES = Deobfuscation("file_name", RewriteKind.SPLIT, rf"(?:[_\-]|[a-z][A-Z])[^\s/]*\.(?i:{_KINDS})\b", _edits)
