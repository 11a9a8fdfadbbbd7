"""Characters that say more than one, or sit on another (Unicode Standard Annex 15): `⑪` is 11, `ﬁ` is fi, a digit
may be struck through or stand in a raised row. In text that came out of another dress, also what the folded view folds.
"""

from collections.abc import Iterator
from unicodedata import category, normalize

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.characters import folded
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.recognizer import compile_pattern

_RAISED = r"[\x{B2}\x{B3}\x{B9}\x{2070}-\x{2094}]"
_WIDER = (
    r"[\x{FB00}-\x{FB06}\x{132}\x{133}\x{1C4}-\x{1CC}\x{2100}-\x{214F}\x{2460}-\x{24FF}\x{3200}-\x{33FF}"
    r"\x{1F100}-\x{1F1AD}]"
)
_FOLDED = (
    r"[\x{A0}\x{AD}\x{600}-\x{605}\x{660}-\x{669}\x{6F0}-\x{6F9}\x{966}-\x{96F}\x{180B}-\x{180E}\x{2000}-\x{2015}"
    r"\x{2018}-\x{201F}\x{2024}\x{2028}-\x{202F}\x{205F}-\x{2064}\x{3000}\x{FE00}-\x{FE6B}\x{FEFF}-\x{FFDC}"
    r"\x{1D400}-\x{1D7FF}\x{E0000}-\x{E01EF}]"
)
_SITTING = r"[A-Za-z0-9@._+\-]\pM|[\x{334}-\x{338}]"
_OVERLAYS = "\u0334\u0335\u0336\u0337\u0338"
_GATE = rf"{_RAISED}{{4}}|{_WIDER}|{_FOLDED}|{_SITTING}"
_PLACES = compile_pattern(rf"(?:{_RAISED}){{4,}}|{_WIDER}|{_FOLDED}|\pM+")


_PILE = 3
"""So many marks on one character are there to hide it."""


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    if data.isascii():
        return
    shown: dict[str, bytes] = {}
    for place in _PLACES.finditer(data):
        at = place.start()
        chars = place[0].decode()
        if category(chars[0])[0] == "M":
            before = data[at - 1 : at]
            # An accent belongs to its letter; a mark that makes no letter with what it sits on hides it.
            if before.isascii():
                sits = len(normalize("NFC", before.decode("ascii") + chars[0])) > 1
            else:
                sits = chars[0] in _OVERLAYS
            if len(chars) >= _PILE or sits:
                yield Edit(at, place.end(), b"", 0.6)
            continue
        for char in chars:
            if char not in shown:
                shown[char] = _shown(char)
            size = len(char.encode())
            if shown[char] != data[at : at + size]:
                yield Edit(at, at + size, shown[char], 0.6)
            at += size


def _shown(char: str) -> bytes:
    plain = folded(ord(char)) or b""
    return plain if plain != char.encode() else normalize("NFKC", char).encode()


DRESS = Deobfuscation("compounds", Kind.DECODE, _GATE, _edits)
