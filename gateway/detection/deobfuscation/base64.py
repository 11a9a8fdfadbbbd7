"""Decodes base64 in both alphabets (RFC 4648, sections 4 and 5), padded or not, of UTF-8 or UTF-16 text; and base32
(section 6), in capitals or lower case.

A run counts only if all of it decodes to text; images, keys and hashes stay as they are. A finding covers all of a
short run, and the groups of four characters that contain it in a longer one.
"""

import binascii
import re
from collections.abc import Iterator
from functools import partial

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import is_text
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern

# The only groups of four characters that encode three of printable ASCII. In UTF-16, every other byte is zero.
_ANY, _MIDDLE = r"[A-Za-z0-9+/_\-]", "[I-LY-bo-r4-7]"
_FIRST, _SECOND, _THIRD = "[I-Za-f]", "[C-HS-Xi-nyz0-3]", "[ABEFIJMNQRUVYZcdghklopstwx014589]"
_ASCII_GROUP = f"{_FIRST}{_SECOND}{_THIRD}{_ANY}"
_SHORT = f"(?:{_ASCII_GROUP}){{2}}{_FIRST}{_SECOND}(?:{_THIRD}|=)"
_UTF16 = r"(?:[A-Za-z0-9+/][AQgw][A-D][A-Za-z0-9+/]A[A-H][A-Za-z0-9]A){2}"
# UTF-8 beyond ASCII: accented letters among ASCII ones, at each of three positions in a group, and from the third on to
# the next group; three-byte letters, one group each; two-byte letters, three of which fill two groups, in either
# alignment.
_BEGUN, _ENDED = f"{_FIRST}{_SECOND}[DHLPTXbfjnrvz37/_][DEF]", f"[g-v]{_SECOND}{_THIRD}{_ANY}"
_ACCENTED = (
    f"(?:{_ASCII_GROUP}|[wx]{_MIDDLE}{_ANY}{{2}}|{_FIRST}[Mcs8][KOSW]{_ANY}"
    f"|{_BEGUN}|[g-v][MNcdst89][KOSW]{_ANY}|{_ENDED})"
)
_THREE = rf"[4-7]{_MIDDLE}[CGKOSWaeimquy26+\-]{_ANY}"
_TWO = rf"[w-z0-3]{_MIDDLE}[DHLPTXbfjnrvz37/_][A-Za-f]", rf"[g-v][MNcdst89][CGKOSWaeimquy26+\-]{_ANY}"
_TWOS = rf"{_TWO[0]}{_TWO[1]}[w-z0-3]{_MIDDLE}|{_TWO[1]}{_TWO[0]}[g-v][MNcdst89]"
_NON_ASCII = rf"{_ACCENTED}{{2}}{_ANY}{{2}}|(?:{_THREE}){{3}}|{_TWOS}"
_PREFILTER = f"{_SHORT}|{_UTF16}"
_PREFILTER_OF_WORDS = f"{_PREFILTER}|{_NON_ASCII}"
_LIKELY, _LIKELY_WORDS = compile_pattern(_PREFILTER), compile_pattern(_PREFILTER_OF_WORDS)
_PIECE = compile_pattern(r"[A-Za-z0-9]{10,}={0,2}")
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_RUN_END = re.compile(rb"[^A-Za-z0-9+/_\-]|\Z")
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
_SHORTEST_TEXT = 8
_MAX_WHOLE = 96
_SAMPLE = 64
_MAX_SPLIT = 256
_LINE = re.compile(rb"[ \t>|]*\r?\n[ \t>|]*")
_LINE_END = re.compile(rb"={0,2}[ \t]*(?:[\r\n\"'`<|)\]}\\]|\Z)")
_MIN_LINE = 32
_BREAK_PREFILTER = rf"{_ANY}{{{_MIN_LINE}}}([ \t>|]*\r?\n[ \t>|]*){_ANY}{{4}}"
_BROKEN = compile_pattern(_BREAK_PREFILTER)
_NOT_ASCII = bytes(range(0x80, 0x100))
# In lower case, most words are shorter.
_RUN_32 = "(?:[A-Z2-7]{12,}|[a-z2-7]{16,})={0,6}"
_BASE32 = compile_pattern(_RUN_32)
# Python reads numbers of base 32, in digits of its own, much faster than `b32decode` decodes.
_TO_DIGITS = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghijklmnopqrstuv")


def _base64_edits(data: bytes, detected: DetectedSpans, likely: Expression = _LIKELY) -> Iterator[Edit]:
    at = 0
    while match := likely.search(data, at):
        start = _run_start(data, match.start())
        at = end = next(_RUN_END.finditer(data, match.start())).start()
        end += data[end : end + 2].count(b"=")
        if _in_block(data, start, end):
            continue
        edit = _decode_run(data, start, end)
        if edit is not None:
            yield edit
        elif end - start <= _MAX_SPLIT:
            # `/`, `+`, `-` and `_` belong to the alphabet, but may also separate the code from its surroundings.
            for piece in _PIECE.finditer(data, start, end):
                edit = _decode_run(data, *piece.span())
                if edit is not None:
                    yield edit


def _run_start(data: bytes, at: int) -> int:
    """Returns the start of the run that contains or ends at `at`. Looks back in growing steps, to stay linear."""
    size = _SAMPLE
    while at > 0:
        low = max(0, at - size)
        left = len(data[low:at].rstrip(_ALPHABET))
        if left:
            return low + left
        at = low
        size *= 4
    return at


def _join_lines(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    """Joins the lines of a block. One that is shorter than the line before it is the last, and words are no line."""
    size = after = 0
    for found in _BROKEN.finditer(data):
        start, end = found.span(1)
        first, longest = _run_start(data, start), size
        size = start - first
        is_last = first == after and size < longest
        if not is_last and _LINE_END.match(data, next(_RUN_END.finditer(data, end)).start()):
            yield Edit(start, end, b"")
            after = end


def _in_block(data: bytes, start: int, end: int) -> bool:
    """Returns whether the run is a line of a longer block, which is decoded after its lines are joined."""
    before = data[max(0, start - _SAMPLE) : start].rstrip(b" \t>|\r")
    if before.endswith(b"\n") and _is_base64_line(before.rstrip(b" \t>|\r\n")[-_MIN_LINE:]):
        return True
    gap = _LINE.match(data, end)
    return gap is not None and _is_base64_line(data[gap.end() : gap.end() + _MIN_LINE])


def _is_base64_line(line: bytes) -> bool:
    return len(line) == _MIN_LINE and not line.strip(_ALPHABET)


def _decode_run(data: bytes, start: int, end: int) -> Edit | None:
    """Decodes a run. Up to three preceding characters may have been taken for part of it."""
    for begin in range(start, min(start + 4, end)):
        edit = _decode(data, begin, end)
        if edit is not None:
            return edit
    return None


def _decode(data: bytes, start: int, end: int) -> Edit | None:
    sample = _bytes(data[start : min(end, start + _SAMPLE)])
    if len(sample) < _SHORTEST_TEXT:
        return None
    # The sample may end inside a character.
    is_utf16 = sample[1::2].count(0) == len(sample) // 2 and 0 not in sample[::2]
    if not is_utf16 and not is_text(sample[: -3 if end > start + _SAMPLE else None].rstrip(_NOT_ASCII)):
        return None
    raw = _bytes(data[start:end])
    if is_utf16:
        text = raw[: len(raw) // 2 * 2].decode("utf-16-le", "replace").encode()
        return Edit(start, end, text) if is_text(text) else None
    if not is_text(raw):
        return None
    return Edit(start, end, raw, 0.0, None if end - start <= _MAX_WHOLE else (4, 3))


def _bytes(run: bytes) -> bytes:
    run = run.rstrip(b"=").translate(_TO_STANDARD)
    if len(run) % 4 == 1:
        run = run[:-1]
    try:
        return binascii.a2b_base64(run + b"=" * (-len(run) % 4))
    except binascii.Error:
        return b""


def is_searched(run: bytes) -> bool:
    """Whether all of a run in base64 is decoded and searched as text."""
    return any(edit.end == len(run) and edit.start < 4 for edit in _base64_edits(run, ()))


def _base32_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    """Decodes base32. Up to seven preceding letters may belong to another word."""
    for run in _BASE32.finditer(data):
        start, end = run.span()
        for begin in range(start, start + 8):
            digits = data[begin:end].rstrip(b"=").upper().translate(_TO_DIGITS)
            size, rest = divmod(len(digits) * 5, 8)
            raw = (int(digits, 32) >> rest).to_bytes(size)
            if is_text(raw):
                yield Edit(begin, end, raw, 0.0, None if end - begin <= _MAX_WHOLE else (8, 5))
                break


DEOBFUSCATION = Deobfuscation("base64", RewriteKind.UNPACK, _PREFILTER, _base64_edits)
FOR_KNOWN_VALUES = Deobfuscation(
    "base64_known_values", RewriteKind.UNPACK, _PREFILTER_OF_WORDS, partial(_base64_edits, likely=_LIKELY_WORDS)
)
"""Also decodes text beyond ASCII."""
WRAPPED_LINES = Deobfuscation("base64_lines", RewriteKind.JOIN, _BREAK_PREFILTER, _join_lines, b"\n")
BASE32 = Deobfuscation("base32_known_values", RewriteKind.UNPACK, _RUN_32, _base32_edits)
