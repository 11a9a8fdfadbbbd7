"""Joins values with a separator between all characters: `4 1 1 1 …`, `4.1.1.1-…`, `j o h n @ e x a m p l e . c o m`,
and card numbers in unusual groups.

Rows of numbers are common. Digits alone therefore need a valid checksum or context words, and rows of a table stay
unchanged.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.entropy import periodic_skip, phrases
from gateway.detection.re2_expression import Expression, Re2Match
from gateway.detection.recognizer import any_word, compile_pattern

_SEPARATORS = (r"\.", "-", "_", r"\*", r"\|", "/", ",", "·", "•", ":", "~", r"\+")
_OPEN, _CLOSE = r"(?:^|[\s\"'(<=:,])", r"(?:$|[\s\"')>,;!?]|\.(?:$|\s))"
# One white-space character separates characters, more separate words.
_BLANKS = r"\S(?:[ \t]{1,3}\S){6,}"
_SINGLES = "|".join(rf"[{LETTERS}\d](?:{separator}[{LETTERS}\d]){{6,}}" for separator in _SEPARATORS)
_DOTTED = r"[A-Za-z0-9](?:[.·][A-Za-z0-9])+(?:[ \-]{1,2}[A-Za-z0-9](?:[.·][A-Za-z0-9])*)+"
_GROUP_SEPARATOR = r"[ .\-_/,;|:*·+]{1,3}"
_GROUPS = rf"\d{{1,6}}(?:{_GROUP_SEPARATOR}\d{{1,6}}){{3,12}}"
_BLANK_RUN = compile_pattern(rf"{_OPEN}({_BLANKS}){_CLOSE}")
_SINGLE_RUN = compile_pattern(rf"\b(?:{_SINGLES})\b")
_DOTTED_RUN = compile_pattern(rf"\b{_DOTTED}\b")
_GROUP_RUN = compile_pattern(rf"\b{_GROUPS}\b")
_CARD_WORDS = (
    "card, credit, debit, visa, mastercard, amex, american express, kreditkarte, carte, tarjeta, carta, cartão"
)
_CARD = compile_pattern(any_word(phrases(_CARD_WORDS)))
_BLANK = re.compile(rb"[ \t]+")
_SEPARATOR = re.compile(rb"[^0-9A-Za-z]+")
_DOT = re.compile(rb"\.|\xc2\xb7")
_NUMBERS_LINE = re.compile(rb"[\s\d.,;|/+\-]*")
_NO_LETTERS = bytes(byte for byte in range(0x80) if not chr(byte).isalpha() and byte != 0x40)
_NO_DIGITS = bytes(byte for byte in range(0x100) if not 0x30 <= byte <= 0x39)
_CONTEXT = 64
_FIRST_LIMIT, _MIN_RUN = 160, 48
_LINE = 160
_PREFILTERS = (
    rf"{_OPEN}{_BLANKS}",
    rf"(?:[{LETTERS}\d][.\-_*|/,·•:~+]){{6}}[{LETTERS}\d]",
    r"[A-Za-z0-9][.·][A-Za-z0-9][.·][A-Za-z0-9](?:[.·]|[ \-]{1,2}[A-Za-z0-9][.·])",
    rf"\d{{4}}(?:{_GROUP_SEPARATOR}\d{{4}}){{3}}|\d{{1,6}}(?:{_GROUP_SEPARATOR}\d{{1,6}}){{4}}",
)
_BLANK_PREFILTER, _SINGLE_PREFILTER, _DOTTED_PREFILTER, _GROUP_PREFILTER = (
    compile_pattern(prefilter) for prefilter in _PREFILTERS
)


def _spaced_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for run in _find_runs(data, _BLANK_PREFILTER, _BLANK_RUN):
        start, end = run.span(1)
        # `a` and `I` are words that may precede a number.
        if data[start : start + 2] in {b"a ", b"I "} and data[start + 2 : start + 3].isdigit():
            start += 2
        yield from _remove_separators(data, start, end, _BLANK)
    done = 0
    for run in _find_runs(data, _SINGLE_PREFILTER, _SINGLE_RUN):
        done = run.end()
        yield from _remove_separators(data, run.start(), done, _SEPARATOR)
    for run in _find_runs(data, _DOTTED_PREFILTER, _DOTTED_RUN):
        if run.end() > done and len(run[0].translate(None, b".- \xc2\xb7")) >= 7:
            yield from _remove_separators(data, run.start(), run.end(), _DOT)
    certain = [(start, end) for start, end, score, _ in detected if score >= 1.0]
    for run in _find_runs(data, _GROUP_PREFILTER, _GROUP_RUN):
        before = bisect_right(certain, run.span()) - 1
        if before < 0 or certain[before][1] < run.end():
            yield from _card_groups(data, run.start(), run.end())


def _find_runs(data: bytes, prefilter: Expression, run: Expression) -> Iterator[Re2Match]:
    """Yields the matches of `run`, of any length, that start at or shortly after a match of `prefilter`.

    A match of `run` must start with a shorter match of fewer than `_MIN_RUN` bytes. In a row of small numbers that no
    single run covers, only the runs at both ends are found.
    """
    at, before = 0, -1
    while match := prefilter.search(data, at):
        start, limit = match.start(), match.end() + _FIRST_LIMIT
        found = run.search(data, start, limit)
        while found is not None and limit < len(data) and found.end() > limit - 3:
            limit += 4 * (limit - start)
            found = run.search(data, start, limit)
        if found is None:
            at = max(match.end() - 1, limit - _MIN_RUN)
        else:
            yield found
            at = max(match.end() - 1, found.end() - 1) + periodic_skip(data, before, *found.span())
            before = found.start()


def _remove_separators(data: bytes, start: int, end: int, separator: re.Pattern[bytes]) -> Iterator[Edit]:
    """Yields edits that remove the separators, except for one space between words."""
    run = data[start:end]
    min_score = 0.6 if run.translate(None, _NO_LETTERS) else 0.7
    if min_score > 0.6 and in_table(data, start, end):
        return
    # The same separator at every second byte.
    if len(run) % 2 and run.isascii() and run[1::2].count(run[1:2]) == len(run) // 2:
        yield Edit(start, end, run[::2], min_score, (2, 1), 1)
        return
    for found in separator.finditer(data, start, end):
        yield Edit(found.start(), found.end(), b" " if separator is _BLANK and len(found[0]) > 1 else b"", min_score)


def in_table(data: bytes, start: int, end: int) -> bool:
    """Returns whether the line before or after also consists of numbers and has about the same length."""
    first = data.rfind(b"\n", max(0, start - _LINE), start)
    last = data.find(b"\n", end, end + _LINE)
    if first < 0 and last < 0:
        return False
    before = data[max(0, first - _LINE) : first].rpartition(b"\n")[2] if first > 0 else b""
    after = data[last + 1 : last + _LINE].partition(b"\n")[0] if last >= 0 else b""
    length = (last if last >= 0 else len(data)) - first - 1
    return any(
        line.strip() and abs(len(line) - length) < 3 and _NUMBERS_LINE.fullmatch(line) for line in (before, after)
    )


def _card_groups(data: bytes, start: int, end: int) -> Iterator[Edit]:
    digits = len(data[start:end].translate(None, _NO_DIGITS))
    if not 14 <= digits <= 19 or in_table(data, start, end):
        return
    fours = all(len(group) == 4 for group in _SEPARATOR.split(data[start:end]))
    if fours or _CARD.search(data, max(0, start - _CONTEXT), start) is not None:
        for found in _SEPARATOR.finditer(data, start, end):
            yield Edit(found.start(), found.end(), b"", 1.0)


DEOBFUSCATION = Deobfuscation("spaced", RewriteKind.JOIN, "|".join(_PREFILTERS), _spaced_edits)
