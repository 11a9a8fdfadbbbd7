"""Replaces confusable letters of another script (Unicode Technical Standard 39): `АKIA` with a Cyrillic A.

Affects only words that mix ASCII letters or digits with confusables; words in a single script stay unchanged.
"""

import re
from collections.abc import Iterator

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import word_lists
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.re2_expression import neighbourhoods
from gateway.detection.recognizer import compile_pattern

_LETTERS, _DIGITS = ({pair[0]: pair[1] for pair in pairs} for pairs in word_lists(__file__).values())
_TABLE = _LETTERS | _DIGITS
_ALL = "".join(sorted({*_LETTERS, *_DIGITS}))
_WORD = compile_pattern(rf"[{LETTERS}\d]+")
_PREFILTER = rf"[A-Za-z0-9@][{_ALL}]|[{_ALL}][A-Za-z0-9@]"
_COMPILED_PREFILTER = compile_pattern(_PREFILTER)
# Next to one of these and an ASCII letter, as in an address, a word of confusables alone is suspicious.
_JOINT = r"[@.:/?&=_\-]"
# Words that may need replacement: those that mix both kinds, or that follow or precede an ASCII letter and a joint.
_MIXED = compile_pattern(
    rf"[{LETTERS}\d]*[A-Za-z0-9][{LETTERS}\d]*[{_ALL}]|[{LETTERS}\d]*[{_ALL}][{LETTERS}\d]*[A-Za-z0-9]"
    rf"|[A-Za-z]{_JOINT}[{_ALL}]|[{LETTERS}\d]*[{_ALL}]{_JOINT}[A-Za-z]"
)
_BEFORE = re.compile(rf"[A-Za-z]{_JOINT}".encode())
_AFTER = re.compile(rf"{_JOINT}[A-Za-z]".encode())


def _confusable_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for first, last in neighbourhoods(data, _COMPILED_PREFILTER, 64, 64):
        at = first
        while match := _MIXED.search(data, at, last):
            for found in _WORD.finditer(data, match.start(), last):
                at = found.end()
                if not found[0].isascii():
                    yield from _word_edits(data, found[0].decode("utf-8", "replace"), found.start(), at)
                    break


def _word_edits(data: bytes, word: str, start: int, end: int) -> Iterator[Edit]:
    plain = [char for char in word if char < "\x80"]
    has_other_letters = any(char > "\x7f" and char not in _TABLE for char in word)
    if has_other_letters and len(plain) * 2 <= len(word):
        return  # a word in that script with a few ASCII characters
    if not plain and not (_BEFORE.match(data[max(0, start - 2) : start]) or _AFTER.match(data, end)):
        return
    table = _TABLE if plain and all(char.isdigit() for char in plain) else _LETTERS
    at = start
    for char in word:
        size = len(char.encode())
        if char in table:
            yield Edit(at, at + size, table[char].encode(), 0.6)
        at += size


DEOBFUSCATION = Deobfuscation("confusables", RewriteKind.DECODE, _PREFILTER, _confusable_edits)
