"""Base64 in both alphabets (RFC 4648, sections 4 and 5), with or without padding, of UTF-8 or UTF-16 text.

A run counts only if all of it decodes to text: a picture, a key or a hash stays whole. Of a short run the whole is
the value; of a longer one, the groups of four characters that hold it.
"""

import binascii
import re
from collections.abc import Iterator
from functools import partial

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.candidates import run_end, run_start
from gateway.detection.deobfuscation.characters import is_text
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern

# Four characters that stand for three of printable ASCII can only be these; UTF-16 has a zero in every other byte.
_ANY, _MIDDLE = r"[A-Za-z0-9+/_\-]", "[I-LY-bo-r4-7]"
_FIRST, _SECOND, _THIRD = "[I-Za-f]", "[C-HS-Xi-nyz0-3]", "[ABEFIJMNQRUVYZcdghklopstwx014589]"
_GROUP = f"{_FIRST}{_SECOND}{_THIRD}{_ANY}"
_SHORT = f"(?:{_GROUP}){{2}}{_FIRST}{_SECOND}(?:{_THIRD}|=)"
_WIDE = r"(?:[A-Za-z0-9+/][AQgw][A-D][A-Za-z0-9+/]A[A-H][A-Za-z0-9]A){2}"
# Of UTF-8: letters with an accent between those of ASCII, in each of three places of a group; letters of three bytes,
# which are a group each; and of two, of which three are two groups, whichever comes first.
_ACCENTED = (
    f"(?:{_GROUP}|[wx]{_MIDDLE}{_ANY}{{2}}|{_FIRST}[Mcs8][KOSW]{_ANY}"
    f"|{_FIRST}{_SECOND}[DHLPTXbfjnrvz37/_][DEF][g-v]{_SECOND}{_THIRD}{_ANY})"
)
_THREE = rf"[4-7]{_MIDDLE}[CGKOSWaeimquy26+\-]{_ANY}"
_TWO = rf"[w-z0-3]{_MIDDLE}[DHLPTXbfjnrvz37/_][A-Za-f]", rf"[g-v][MNcdst89][CGKOSWaeimquy26+\-]{_ANY}"
_OTHER = rf"{_ACCENTED}{{3}}|(?:{_THREE}){{3}}|{_TWO[0]}{_TWO[1]}[w-z0-3]{_MIDDLE}|{_TWO[1]}{_TWO[0]}[g-v][MNcdst89]"
_GATE = f"{_SHORT}|{_WIDE}"
_GATE_OF_WORDS = f"{_GATE}|{_OTHER}"
_LIKELY, _LIKELY_WORDS = compile_pattern(_GATE), compile_pattern(_GATE_OF_WORDS)
_PIECE = compile_pattern(r"[A-Za-z0-9]{10,}={0,2}")
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
_SHORTEST_TEXT = 8
_WHOLE = 96
_SAMPLE = 64
_TO_PIECES = 256
_LINE = re.compile(rb"[ \t>|]*\r?\n[ \t>|]*")
_FULL = 32
_BREAK_GATE = rf"{_ANY}{{{_FULL}}}([ \t>|]*\r?\n[ \t>|]*){_ANY}{{4}}"
_BROKEN = compile_pattern(_BREAK_GATE)
_NOT_ASCII = bytes(range(0x80, 0x100))


def _edits(data: bytes, taken: Taken, likely: Expression = _LIKELY) -> Iterator[Edit]:
    at = 0
    while place := likely.search(data, at):
        start = run_start(data, place.start(), _ALPHABET)
        at = end = run_end(data, place.start(), _ALPHABET)
        end += data[end : end + 2].count(b"=")
        if _in_block(data, start, end):
            continue
        edit = _read(data, start, end)
        if edit is not None:
            yield edit
        elif end - start <= _TO_PIECES:
            # `/`, `+`, `-` and `_` are letters of the code, and signs of what may stand around it.
            for piece in _PIECE.finditer(data, start, end):
                edit = _read(data, *piece.span())
                if edit is not None:
                    yield edit


def _joined(data: bytes, taken: Taken) -> Iterator[Edit]:
    return (Edit(*found.span(1), b"") for found in _BROKEN.finditer(data))


def _in_block(data: bytes, start: int, end: int) -> bool:
    """Whether the run is a line of a longer block, which is read as a whole where the lines are joined."""
    before = data[max(0, start - _SAMPLE) : start].rstrip(b" \t>|\r")
    if before.endswith(b"\n") and _all_code(before.rstrip(b" \t>|\r\n")[-_FULL:]):
        return True
    gap = _LINE.match(data, end)
    return gap is not None and _all_code(data[gap.end() : gap.end() + _FULL])


def _all_code(line: bytes) -> bool:
    return len(line) == _FULL and not line.strip(_ALPHABET)


def _read(data: bytes, start: int, end: int) -> Edit | None:
    """Up to three characters before the code may look as if they belonged to it."""
    for begin in range(start, min(start + 4, end)):
        edit = _decoded(data, begin, end)
        if edit is not None:
            return edit
    return None


def _decoded(data: bytes, start: int, end: int) -> Edit | None:
    sample = _bytes(data[start : min(end, start + _SAMPLE)])
    if len(sample) < _SHORTEST_TEXT:
        return None
    # A sample may end inside a character.
    wide = _wide(sample)
    if not wide and not is_text(sample[: -3 if end > start + _SAMPLE else None].rstrip(_NOT_ASCII)):
        return None
    raw = _bytes(data[start:end])
    if wide:
        text = raw[: len(raw) // 2 * 2].decode("utf-16-le", "replace").encode()
        return Edit(start, end, text) if is_text(text) else None
    if not is_text(raw):
        return None
    return Edit(start, end, raw, 0.0, None if end - start <= _WHOLE else (4, 3))


def _wide(raw: bytes) -> bool:
    return raw[1::2].count(0) == len(raw) // 2 and 0 not in raw[::2]


def _bytes(run: bytes) -> bytes:
    run = run.rstrip(b"=").translate(_TO_STANDARD)
    if len(run) % 4 == 1:
        run = run[:-1]
    try:
        return binascii.a2b_base64(run + b"=" * (-len(run) % 4))
    except binascii.Error:
        return b""


DRESS = Deobfuscation("base64", Kind.UNPACK, _GATE, _edits)
OF_WORDS = Deobfuscation("base64 of words", Kind.UNPACK, _GATE_OF_WORDS, partial(_edits, likely=_LIKELY_WORDS))
"""Those of other letters, too."""
LINES = Deobfuscation("lines of base64", Kind.JOIN, _BREAK_GATE, _joined, b"\n")
