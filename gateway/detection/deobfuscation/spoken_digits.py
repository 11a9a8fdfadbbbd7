"""Writes digits that are spelled as words, as in transcripts of calls: `five oh three, five five five, oh one four two`
becomes `503 555 0142`.

Only a long run of such words counts: prose counts to three, but reads no number out.
"""

import re
from collections.abc import Iterator

from gateway.detection.data_files import read_toml
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.recognizer import compile_pattern

_TABLE = read_toml(__file__)
_LANGUAGES = [words.split() for words in _TABLE["languages"]]
_DIGITS = {word: str(digit) for words in _LANGUAGES for digit, word in enumerate(words)} | _TABLE["others"]
_TENS = _TABLE["tens"].split()
_DIGITS |= {word: str(number) for number, word in enumerate(_TABLE["teens"].split(), 10)}
_DIGITS |= {word: f"{number}0" for number, word in enumerate(_TENS, 2)}
_REPEATS = {"double": 2, "triple": 3}

_WORD = f"(?:{'|'.join(sorted({*_DIGITS, *_REPEATS}))})"
_BETWEEN = r"(?:[ \t]{1,2}|,[ \t]{0,2}|\.{0,3}[ \t]|-|[ \t]?\r?\n)"
_RUN = compile_pattern(rf"(?i)\b{_WORD}(?:{_BETWEEN}{_WORD}){{3,}}\b")
_FORTY_TWO = re.compile(rf"\b({'|'.join(_TENS)})[ -]({'|'.join(_LANGUAGES[0][1:])})\b")
_PART = re.compile(r"\w+|[,.\n]")
_MIN_DIGITS = 6


def _digits(spoken: str) -> str:
    """Returns the digits of a run, with a blank where the speaker paused."""
    written: list[str] = []
    times = 1
    for part in _PART.findall(_FORTY_TWO.sub(lambda found: _DIGITS[found[1]][0] + _DIGITS[found[2]], spoken.lower())):
        if part in _REPEATS:
            times = _REPEATS[part]
        else:
            written.append((part if part.isdigit() else _DIGITS.get(part, " ")) * times)
            times = 1
    return "".join(written)


def _spoken_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    for run in _RUN.finditer(data):
        digits = _digits(run[0].decode())
        if sum(map(str.isdigit, digits)) >= _MIN_DIGITS:
            yield Edit(*run.span(), digits.encode(), 0.5)


DEOBFUSCATION = Deobfuscation(
    "spoken_digits", RewriteKind.DECODE, rf"(?i)\b{_WORD}(?:{_BETWEEN}{_WORD}){{3}}\b", _spoken_edits
)
