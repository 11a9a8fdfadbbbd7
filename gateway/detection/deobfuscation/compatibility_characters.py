"""Expands compatibility characters and removes overlays (Unicode Standard Annex 15): `⑪` is 11, `ﬁ` is fi, digits may
be struck through or superscript. In the output of another deobfuscation, also folds what normalization folds.
"""

from collections.abc import Iterator
from unicodedata import category, normalize

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import folded_character
from gateway.detection.recognizer import compile_pattern

_SUPERSCRIPT = r"[\x{B2}\x{B3}\x{B9}\x{2070}-\x{2094}]"
_MULTIPLE = (
    r"[\x{FB00}-\x{FB06}\x{132}\x{133}\x{1C4}-\x{1CC}\x{2100}-\x{214F}\x{2460}-\x{24FF}\x{3200}-\x{33FF}"
    r"\x{1F100}-\x{1F1AD}]"
)
_FOLDED = (
    r"[\x{A0}\x{AD}\x{600}-\x{605}\x{660}-\x{669}\x{6F0}-\x{6F9}\x{966}-\x{96F}\x{180B}-\x{180E}\x{2000}-\x{2015}"
    r"\x{2018}-\x{201F}\x{2024}\x{2028}-\x{202F}\x{205F}-\x{2064}\x{3000}\x{FE00}-\x{FE6B}\x{FEFF}-\x{FFDC}"
    r"\x{1D400}-\x{1D7FF}\x{E0000}-\x{E01EF}]"
)
_COMBINED = r"[A-Za-z0-9@._+\-]\pM|[\x{334}-\x{338}]"
_OVERLAYS = "\u0334\u0335\u0336\u0337\u0338"
_PREFILTER = rf"{_SUPERSCRIPT}{{4}}|{_MULTIPLE}|{_FOLDED}|{_COMBINED}"
_CANDIDATE = compile_pattern(rf"(?:{_SUPERSCRIPT}){{4,}}|{_MULTIPLE}|{_FOLDED}|\pM+")


_MIN_STACKED = 3
"""This many marks on one character are there to hide it."""


def _compatibility_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    if data.isascii():
        return
    replacements: dict[str, bytes] = {}
    for match in _CANDIDATE.finditer(data):
        at = match.start()
        chars = match[0].decode()
        if category(chars[0])[0] == "M":
            before = data[at - 1 : at]
            # Keeps accents: a mark that composes with its base to one letter belongs to it, any other obscures it.
            if before.isascii():
                obscures = len(normalize("NFC", before.decode("ascii") + chars[0])) > 1
            else:
                obscures = chars[0] in _OVERLAYS
            if len(chars) >= _MIN_STACKED or obscures:
                yield Edit(at, match.end(), b"", 0.6)
            continue
        for char in chars:
            if char not in replacements:
                plain = folded_character(ord(char)) or b""
                replacements[char] = plain if plain != char.encode() else normalize("NFKC", char).encode()
            size = len(char.encode())
            if replacements[char] != data[at : at + size]:
                yield Edit(at, at + size, replacements[char], 0.6)
            at += size


DEOBFUSCATION = Deobfuscation("compatibility_characters", RewriteKind.DECODE, _PREFILTER, _compatibility_edits)
