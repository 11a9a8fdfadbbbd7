"""Removes markup that a renderer hides: Markdown (CommonMark) emphasis and code, inline HTML tags, and comments."""

import re
from collections.abc import Iterator
from functools import partial

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.re2_expression import neighbourhoods
from gateway.detection.recognizer import compile_pattern

_INLINE = (
    "a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike|strong|sub|sup|time|tt|u"
    "|var|wbr"
)
_MARK = (
    rf"\*|`|~~|\|\||</?(?i:{_INLINE})(?:\s[^<>]{{0,256}}|/)?>|<!--[^<>]{{0,128}}-->"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)
_MARKS = re.compile(rf"(?:{_MARK.replace('(?i:', '(?:')})+".encode(), re.IGNORECASE)
# Only markup inside a value can hide it; emphasis around words cannot. The prefilter omits the upper bounds, each of
# which would add as many states.
_ANY_MARK = re.sub(r"\{0,\d{2,}\}", "*", _MARK)
_PREFILTER = (
    rf"[{LETTERS}\d@+:/_\-](?:{_ANY_MARK})+[{LETTERS}\d@.+:/_\-]"
    rf"|\d[)]?(?: (?:{_ANY_MARK})+|(?:{_ANY_MARK})+ )[(]?\d"
)
_COMPILED_PREFILTER = compile_pattern(_PREFILTER)
_VALUE_CHARACTER = re.compile(rb"[0-9@]")
_AROUND = 48
_LONG_TOKEN = re.compile(rb"[A-Za-z0-9+/_\-]{16}")


def _markup_edits(data: bytes, detected: DetectedSpans, *, words: bool = False) -> Iterator[Edit]:
    for first, last in neighbourhoods(data, _COMPILED_PREFILTER, _AROUND, _AROUND):
        if words or _VALUE_CHARACTER.search(data, first, last) or _LONG_TOKEN.search(data, first, last):
            for mark in _MARKS.finditer(data, first, last):
                if mark[0] == b"*" and data[mark.start() - 1 : mark.start()] == b".":
                    continue  # `.*` is a regular expression or arithmetic
                yield Edit(mark.start(), mark.end(), b"", 0.6)


DEOBFUSCATION = Deobfuscation("markup", RewriteKind.DECODE, _PREFILTER, _markup_edits)
FOR_KNOWN_VALUES = Deobfuscation(
    "markup_known_values", RewriteKind.DECODE, _PREFILTER, partial(_markup_edits, words=True)
)
