"""Writes digits that are spelled as words, as in transcripts of calls: `five oh three, five five five, oh one four two`
becomes `503 555 0142`.

Only a long run of such words counts: prose counts to three, but reads no number out.
"""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.recognizer import compile_pattern

_LANGUAGES = (
    "zero one two three four five six seven eight nine",
    "null eins zwei drei vier fünf sechs sieben acht neun",
    "zéro un deux trois quatre cinq six sept huit neuf",
    "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "zero uno due tre quattro cinque sei sette otto nove",
    "zero um dois três quatro cinco seis sete oito nove",
    "nul een twee drie vier vijf zes zeven acht negen",
    "zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć",
)
_DIGITS = {word: str(digit) for words in _LANGUAGES for digit, word in enumerate(words.split())}
_DIGITS |= {"oh": "0", "nought": "0", "zwo": "2", "één": "1", "meia": "6", "hundred": "00"}
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DIGITS |= {word: str(number) for number, word in enumerate(_TEENS.split(), 10)}
_DIGITS |= {word: f"{number}0" for number, word in enumerate(_TENS.split(), 2)}
_REPEATS = {"double": 2, "triple": 3}

_WORD = f"(?:{'|'.join(sorted({*_DIGITS, *_REPEATS}))})"
_BETWEEN = r"(?:[ \t]{1,2}|,[ \t]{0,2}|\.{0,3}[ \t]|-|[ \t]?\r?\n)"
_RUN = compile_pattern(rf"(?i)\b{_WORD}(?:{_BETWEEN}{_WORD}){{3,}}\b")
_FORTY_TWO = re.compile(rf"\b({_TENS.replace(' ', '|')})[ -]({'|'.join(_LANGUAGES[0].split()[1:])})\b")
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
