"""Reads a text as someone who looks for a value in it would: decoded, and without differences of spelling.

This is no part of detection, and shares no code with it: it checks what detection has let through.
"""

import re
import unicodedata
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import unquote_plus

# How often a text may be encoded, one encoding in another.
_DEPTH = 3
# The most characters that the readings of one text have, for each of its own and besides.
_EXPANSION, _SPARE = 32, 1_000_000
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}(?:\r?\n[A-Za-z0-9+/_-]+)*")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}[\s:]?){4,}")
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_SPACES = re.compile(r"\s+")
_COMPRESSED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


def readings(text: str, shortest: int) -> Iterator[tuple[str, str]]:
    """Yields a text as it is and as it decodes, each with the name of the encoding, which is empty for the text itself.

    What decodes to less than `shortest` characters is left out.

    Raises OverflowError for a text that decodes to too much to be searched.
    """
    room = _EXPANSION * len(text) + _SPARE
    seen = {text}
    waiting = [("", text, 0)]
    while waiting:
        how, read, depth = waiting.pop()
        yield how, read
        if depth == _DEPTH:
            continue
        for name, decode in _DECODERS:
            for decoded in decode(read):
                if decoded in seen or len(decoded) < shortest:
                    continue
                room -= len(decoded)
                if room < 0:
                    raise OverflowError
                seen.add(decoded)
                waiting.append((f"{how} in {name}" if how else name, decoded, depth + 1))


def folded(text: str) -> str:
    """Returns a text without differences of case, compatibility forms, invisible characters and white space."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
        text = unicodedata.normalize("NFC", text)
    return _SPACES.sub(" ", text.casefold())


def squeezed(text: str) -> str:
    """Returns the letters and digits of a folded text, which separators do not divide."""
    return "".join(filter(str.isalnum, text))


def _percent(text: str) -> Iterator[str]:
    if "%" in text:
        yield unquote_plus(text)
    elif "+" in text and " " not in text:
        yield text.replace("+", " ")


def _escapes(text: str) -> Iterator[str]:
    if "\\" in text:
        unescaped = _ESCAPED.sub(_unescaped, text)
        # Pairs of surrogates become one character.
        yield unescaped.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(found: re.Match[str]) -> str:
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    return _CONTROLS.get(found[3], found[3])


def _entities(text: str) -> Iterator[str]:
    if "&" in text:
        yield unescape(text)


def _base64(text: str) -> Iterator[str]:
    for run in _BASE64.finditer(text):
        letters = run[0].translate(_STANDARD)
        # Encoded text may follow other letters.
        for start in range(min(4, len(letters) - 3)):
            whole = letters[start : start + (len(letters) - start) // 4 * 4]
            rest = letters[start + len(whole) :]
            yield from _legible(b64decode(whole + (rest + "=" * (4 - len(rest)) if len(rest) > 1 else "")))


def _hex(text: str) -> Iterator[str]:
    for run in _HEX.finditer(text):
        digits = re.sub(r"[\s:]", "", run[0])
        try:
            yield from _legible(bytes.fromhex(digits))
        except ValueError:
            continue


def _legible(data: bytes) -> Iterator[str]:
    """Yields decoded bytes as text if most of it is, or what they decompress to."""
    if data.startswith(_COMPRESSED):
        try:
            inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
            data = inflater.decompress(data, _SPARE)
        except zlib.error:
            return
        if inflater.unconsumed_tail:
            raise OverflowError
    if data.count(0) > len(data) // 3:
        # UTF-16.
        data = data.replace(b"\0", b"")
    text = data.decode("utf-8", "ignore")
    if sum(map(str.isprintable, text)) * 5 >= len(data) * 3 > 0:
        yield text


_STANDARD = str.maketrans({"-": "+", "_": "/", "\r": None, "\n": None})
_DECODERS: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    ("percent-encoding", _percent),
    ("escapes", _escapes),
    ("HTML entities", _entities),
    ("base64", _base64),
    ("hexadecimal", _hex),
)
