"""Separates values from the labels in an identifier (`card_4539…`, `[CARD_4539…]`, `4539…_backup`), and the words in
the name of a document (`Lebenslauf_Wiebke_Hartung.pdf`).

Regular expressions count an underscore as a letter, so no word boundary precedes such a value. Code is full of
identifiers; only those that contain a digit and are long enough for a value are rewritten. One label is separated at a
time, further labels by nesting. Files of programs are named after no one.
"""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.recognizer import compile_pattern

_REST = r"[\w.+/=@-]"
_PREFILTER = rf"[A-Za-z0-9]_[A-Za-z.+/=@-]{{0,32}}\d{_REST}{{5}}|\d{_REST}{{5,64}}_[A-Za-z]"
_RUN = compile_pattern(r"[\w.+/=@-]{8,512}")
_LEAD = re.compile(rb"[A-Za-z]+[0-9]?(_)(?=[^_])")
_TAIL = re.compile(rb"(?<=[^_])(_)[A-Za-z]+\Z")
_FIGURES = re.compile(rb"_+(?=\d[\d-]{5,})|(?<=\d{6})_+")
_DIGIT = re.compile(rb"\d")
# Some providers number tool calls like this; these are not telephone numbers.
_CALL_ID = re.compile(rb"\bcall_\d{8}\b")
_KINDS = (
    "avif|bmp|csv|docx?|eml|gif|hei[cf]|jpe?g|m4a|mov|mp[34]|msg|od[pst]|pdf|png|ppt[mx]?|rtf|tiff?|txt|vcf|wav"
    "|webm|webp|xls[bmx]?|zip"
)
_NAME_PART = r"""[^\s"'`<>()\[\]{}|/\\:;,*?=&#$@_\-]"""
_FILE_NAME = compile_pattern(rf"{_NAME_PART}+(?:[_\-]{_NAME_PART}+)*\.(?i:{_KINDS})\b", captures=False)
# For known names, which may have an apostrophe.
_DOCUMENT = compile_pattern(rf"""[^\s"`<>|/\\:*?]+\.(?i:{_KINDS})\b""", captures=False)
# Also before a capital within a word, and before the kind.
_SEPARATORS = re.compile(rb"[_-]|\.(?=\w+\Z)|(?<=[a-z])(?=[A-Z])")
_LONGEST = 255
"""Bytes of a name, on most systems."""


def is_in_file_name(text: str, start: int, end: int) -> bool:
    """Returns whether a span is in the name of a document."""
    before, after = (
        part.encode("utf-8", "replace")
        for part in (text[max(0, start - _LONGEST) : start], text[start : end + _LONGEST])
    )
    first, last = len(before), len(before) + len(text[start:end].encode("utf-8", "replace"))
    return any(name.start() <= first and last <= name.end() for name in _DOCUMENT.finditer(before + after))


def _labels(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for run in _RUN.finditer(data):
        text, start = run[0], run.start()
        if b"_" not in text or not _DIGIT.search(text):
            continue
        lead = None if _CALL_ID.match(text) else _LEAD.match(text)
        tail = _TAIL.search(text)
        for label in (lead, tail):
            if label is not None:
                yield Edit(start + label.start(1), start + label.end(1), b" ")


def _figures(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for found in _FIGURES.finditer(data):
        if not _CALL_ID.match(data, max(0, found.start() - 4)):
            yield Edit(*found.span(), b" ")


def _words(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for name in _FILE_NAME.finditer(data):
        start, end = name.span()
        if end - start <= _LONGEST:
            for separator in _SEPARATORS.finditer(data[start:end]):
                yield Edit(start + separator.start(), start + separator.end(), b" ")


DEOBFUSCATION = Deobfuscation("identifiers", RewriteKind.SPLIT, _PREFILTER, _labels, b"_")
FIGURES = Deobfuscation("figures in identifiers", RewriteKind.UNPACK, r"_\d[\d-]{5}|\d{6}_", _figures, b"_")
"""Separates all labels at once, for numbers only: the underscores in a vendor's key belong to it."""
FILE_NAMES = Deobfuscation("file_name", RewriteKind.SPLIT, rf"(?:[_\-]|[a-z][A-Z])[^\s/]*\.(?i:{_KINDS})\b", _words)
