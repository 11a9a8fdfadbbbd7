"""Letters of one script in a word of another (Unicode Technical Standard 39): `АKIA` with a Cyrillic A.

Words of one script stay what they are. Only words that mix letters or digits of ASCII with look-alikes are read anew.
"""

import re
from collections.abc import Iterator

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.candidates import near
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.recognizer import compile_pattern

_PAIRS = (
    # Cyrillic
    "АA ВB ЕE ЅS ІI ЈJ КK МM НH ОO РP СC ТT ХX УY аa еe оo рp сc уy хx ѕs іi јj һh ԁd ԛq ԝw ӏl ӀI ԌG ҮY ѵv ѴV гr кk "
    "тt мm вb пn зз Ғғ ԚQ ԜW ьb Ьb ɡg "
    # Greek
    "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX αa γy ιi κk νv οo ρp τt υu χx ϲc ϳj ϹC ηn ωw "
    # Armenian, Cherokee, Coptic, Lisu
    "օo սu հh ոn ցg զq Տտ ՏS ՕO ԼL "
    "ᎪA ᏴB ᏟC ᎠD ᎬE ᏀG ᎻH ᎥI ᎫJ ᏦK ᏞL ᎷM ᏢP ᎡR ᏚS ᎢT ᏙV ᎳW ᏃZ "
    "ⲀA ⲤC ⲈE ⲎH ⲒI ⲔK ⲘM ⲚN ⲞO ⲢP ⲦT ⲬX ⲟo ⲥc "
    "ꓮA ꓐB ꓚC ꓓD ꓰE ꓝF ꓖG ꓧH ꓲI ꓙJ ꓗK ꓡL ꓟM ꓠN ꓳO ꓑP ꓣR ꓢS ꓔT ꓴU ꓦV ꓪW ꓫX ꓬY ꓜZ "
    # Latin letters nobody writes these values with
    "ıi ɑa ɩi ʟL ɪI ʀR ʏY ʙB ɢG ʜH ɴN ᴀA ᴄC ᴅD ᴇE ᴊJ ᴋK ᴍM ᴏO ᴘP ᴛT ᴜU ᴠV ᴡW ᴢZ ꜱS ꜰF ǀl ǃ! ոn ɡg ƅb ƽ5 Ƨ2 Ʒ3"
)
_LETTERS = {pair[0]: pair[1] for pair in _PAIRS.split() if pair[1].isascii()}
# Beside digits, and with no letter of ASCII in the word, a round letter is a zero.
_DIGITS = {
    **dict.fromkeys("ОоΟοՕօⲞⲟꓳᴏ", "0"),
    **dict.fromkeys("ІӏӀΙⲒꓲǀіι", "1"),
    **dict.fromkeys("ЗзƷ", "3"),
    "б": "6",
    "Ƨ": "2",
    "ƽ": "5",
    "Ч": "4",
    "ч": "4",
}
_TABLE = _LETTERS | _DIGITS
_ALL = "".join(sorted({*_LETTERS, *_DIGITS}))
_WORD = compile_pattern(rf"[{LETTERS}\d]+")
_GATE = rf"[A-Za-z0-9@][{_ALL}]|[{_ALL}][A-Za-z0-9@]"
_COMPILED_GATE = compile_pattern(_GATE)
# A word of look-alikes alone is suspicious inside an address or key with letters of ASCII.
_JOINT = r"[@.:/?&=_\-]"
# Finds the words that may be read anew: with both kinds of letters, or beside a letter of ASCII and such a sign.
_MIXED = compile_pattern(
    rf"[{LETTERS}\d]*[A-Za-z0-9][{LETTERS}\d]*[{_ALL}]|[{LETTERS}\d]*[{_ALL}][{LETTERS}\d]*[A-Za-z0-9]"
    rf"|[A-Za-z]{_JOINT}[{_ALL}]|[{LETTERS}\d]*[{_ALL}]{_JOINT}[A-Za-z]"
)
_BEFORE = re.compile(rf"[A-Za-z]{_JOINT}".encode())
_AFTER = re.compile(rf"{_JOINT}[A-Za-z]".encode())


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    for first, last in near(data, _COMPILED_GATE, 64, 64):
        at = first
        while place := _MIXED.search(data, at, last):
            for found in _WORD.finditer(data, place.start(), last):
                at = found.end()
                if not found[0].isascii():
                    yield from _word(data, found[0].decode("utf-8", "replace"), found.start(), at)
                    break


def _word(data: bytes, word: str, start: int, end: int) -> Iterator[Edit]:
    plain = [char for char in word if char < "\x80"]
    strange = any(char > "\x7f" and char not in _TABLE for char in word)
    if strange and len(plain) * 2 <= len(word):
        return  # a word of that script, with a digit or so at its end
    if not plain and not (_BEFORE.match(data[max(0, start - 2) : start]) or _AFTER.match(data, end)):
        return
    table = _TABLE if plain and all(char.isdigit() for char in plain) else _LETTERS
    at = start
    for char in word:
        size = len(char.encode())
        if char in table:
            yield Edit(at, at + size, table[char].encode(), 0.6)
        at += size


DRESS = Deobfuscation("look_alikes", Kind.DECODE, _GATE, _edits)
