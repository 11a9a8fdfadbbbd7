"""Marks inside a value that a renderer takes away: Markdown (CommonMark) emphasis and code, tags of HTML that do not
break a line, comments, and control sequences of terminals (ECMA-48).
"""

import re
from collections.abc import Iterator
from functools import partial

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.candidates import near
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.recognizer import compile_pattern

_INLINE = (
    "a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike|strong|sub|sup|time|tt|u"
    "|var|wbr"
)
_MARK = (
    rf"\*|`|~~|\|\||</?(?i:{_INLINE})(?:\s[^<>]{{0,256}}|/)?>|<!--[^<>]{{0,128}}-->"
    r"|\x1b\[[0-9;]{0,16}[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)
_MARKS = re.compile(rf"(?:{_MARK.replace('(?i:', '(?:')})+".encode(), re.IGNORECASE)
# Only what separates two parts of a value can hide it; emphasis around words cannot.
# The gate needs no bounds, each of which would be that many states.
_ANY_MARK = re.sub(r"\{0,\d{2,}\}", "*", _MARK)
_GATE = (
    rf"[{LETTERS}\d@+:/_\-](?:{_ANY_MARK})+[{LETTERS}\d@.+:/_\-]"
    rf"|\d[)]?(?: (?:{_ANY_MARK})+|(?:{_ANY_MARK})+ )[(]?\d"
)
_COMPILED_GATE = compile_pattern(_GATE)
_TELLING = re.compile(rb"[0-9@]")
_AROUND = 48
_LONG = re.compile(rb"[A-Za-z0-9+/_\-]{16}")


def _edits(data: bytes, taken: Taken, *, words: bool = False) -> Iterator[Edit]:
    for first, last in near(data, _COMPILED_GATE, _AROUND, _AROUND):
        if words or _TELLING.search(data, first, last) or _LONG.search(data, first, last):
            for mark in _MARKS.finditer(data, first, last):
                if mark[0] == b"*" and data[mark.start() - 1 : mark.start()] == b".":
                    continue  # `.*` is an expression, or arithmetic
                yield Edit(mark.start(), mark.end(), b"", 0.6)


DRESS = Deobfuscation("markup", Kind.DECODE, _GATE, _edits)
OF_WORDS = Deobfuscation("markup of words", Kind.DECODE, _GATE, partial(_edits, words=True))
