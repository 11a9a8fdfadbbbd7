"""Values with a sign between all their characters: `4 1 1 1 …`, `4.1.1.1-…`, `j o h n @ e x a m p l e . c o m`, and
card numbers in unusual groups.

Numbers in a row are common, so what is only digits must prove itself by a checksum or by the words around it, and rows
of a table are left alone.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.candidates import runs
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.entropy import phrases
from gateway.detection.recognizer import any_word, compile_pattern

_SIGNS = (r"\.", "-", "_", r"\*", r"\|", "/", ",", "·", "•", ":", "~", r"\+")
_OPEN, _CLOSE = r"(?:^|[\s\"'(<=:,])", r"(?:$|[\s\"')>,;!?]|\.(?:$|\s))"
# One sign of white space is between characters, more are between words.
_BLANKS = r"\S(?:[ \t]{1,3}\S){6,}"
_SINGLES = "|".join(rf"[{LETTERS}\d](?:{sign}[{LETTERS}\d]){{6,}}" for sign in _SIGNS)
_DOTTED = r"[A-Za-z0-9](?:[.·][A-Za-z0-9])+(?:[ \-]{1,2}[A-Za-z0-9](?:[.·][A-Za-z0-9])*)+"
_BETWEEN = r"[ .\-_/,;|:*·+]{1,3}"
_GROUPS = rf"\d{{1,6}}(?:{_BETWEEN}\d{{1,6}}){{3,12}}"
_BLANK_RUN = compile_pattern(rf"{_OPEN}({_BLANKS}){_CLOSE}")
_SINGLE_RUN = compile_pattern(rf"\b(?:{_SINGLES})\b")
_DOTTED_RUN = compile_pattern(rf"\b{_DOTTED}\b")
_GROUP_RUN = compile_pattern(rf"\b{_GROUPS}\b")
_CARD_WORDS = (
    "card, credit, debit, visa, mastercard, amex, american express, kreditkarte, carte, tarjeta, carta, cartão"
)
_CARD = compile_pattern(any_word(phrases(_CARD_WORDS)))
_BLANK = re.compile(rb"[ \t]+")
_SIGN = re.compile(rb"[^0-9A-Za-z]+")
_DOT = re.compile(rb"\.|\xc2\xb7")
_NUMBERS_LINE = re.compile(rb"[\s\d.,;|/+\-]*")
_NO_LETTERS = bytes(byte for byte in range(0x80) if not chr(byte).isalpha() and byte != 0x40)
_NO_DIGITS = bytes(byte for byte in range(0x100) if not 0x30 <= byte <= 0x39)
_CONTEXT = 64
_LINE = 160
_GATES = (
    rf"{_OPEN}{_BLANKS}",
    rf"(?:[{LETTERS}\d][.\-_*|/,·•:~+]){{6}}[{LETTERS}\d]",
    r"[A-Za-z0-9][.·][A-Za-z0-9][.·][A-Za-z0-9](?:[.·]|[ \-]{1,2}[A-Za-z0-9][.·])",
    rf"\d{{4}}(?:{_BETWEEN}\d{{4}}){{3}}|\d{{1,6}}(?:{_BETWEEN}\d{{1,6}}){{4}}",
)
_BLANK_GATE, _SINGLE_GATE, _DOTTED_GATE, _GROUP_GATE = (compile_pattern(gate) for gate in _GATES)


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    for run in runs(data, _BLANK_GATE, _BLANK_RUN):
        start, end = run.span(1)
        # The words `a` and `I` have one letter, and stand before a number as other words do.
        if data[start : start + 2] in {b"a ", b"I "} and data[start + 2 : start + 3].isdigit():
            start += 2
        yield from _without(data, start, end, _BLANK)
    done = 0
    for run in runs(data, _SINGLE_GATE, _SINGLE_RUN):
        done = run.end()
        yield from _without(data, run.start(), done, _SIGN)
    for run in runs(data, _DOTTED_GATE, _DOTTED_RUN):
        if run.end() > done and len(run[0].translate(None, b".- \xc2\xb7")) >= 7:
            yield from _without(data, run.start(), run.end(), _DOT)
    sure = [(start, end) for start, end, score, _ in taken if score >= 1.0]
    for run in runs(data, _GROUP_GATE, _GROUP_RUN):
        before = bisect_right(sure, run.span()) - 1
        if before < 0 or sure[before][1] < run.end():
            yield from _card_groups(data, run.start(), run.end())


def _without(data: bytes, start: int, end: int, sign: re.Pattern[bytes]) -> Iterator[Edit]:
    """The signs go, but for one blank where several part a word from the next."""
    need = _need(data, start, end)
    if need is None:
        return
    whole = _regular(data, start, end, need)
    if whole is not None:
        yield whole
        return
    for found in sign.finditer(data, start, end):
        yield Edit(found.start(), found.end(), b" " if sign is _BLANK and len(found[0]) > 1 else b"", need)


def _regular(data: bytes, start: int, end: int, need: float) -> Edit | None:
    """One edit for a run in which every second byte is the same sign, however long."""
    run = data[start:end]
    if len(run) % 2 and run.isascii() and run[1::2].count(run[1:2]) == len(run) // 2:
        return Edit(start, end, run[::2], need, (2, 1), 1)
    return None


def _need(data: bytes, start: int, end: int) -> float | None:
    """The least score that counts; None in a table of numbers."""
    if data[start:end].translate(None, _NO_LETTERS):
        return 0.6
    return None if in_table(data, start, end) else 0.7


def in_table(data: bytes, start: int, end: int) -> bool:
    """Whether the line before or after holds nothing but numbers, too, and is about as long."""
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
    fours = all(len(group) == 4 for group in _SIGN.split(data[start:end]))
    if fours or _CARD.search(data, max(0, start - _CONTEXT), start) is not None:
        for found in _SIGN.finditer(data, start, end):
            yield Edit(found.start(), found.end(), b"", 1.0)


DRESS = Deobfuscation("spaced", Kind.JOIN, "|".join(_GATES), _edits)
