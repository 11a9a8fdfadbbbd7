"""Decodes HTML and XML character references (HTML Living Standard, section 13.5), including nested ones."""

import re
from collections.abc import Iterator
from html.entities import html5

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.deobfuscation.characters import folded_character

# `&amp;amp;#64;` is `&amp;#64;` is `&#64;` is `@`. Browsers also accept a number without its semicolon.
# A run of one repeated reference, or of ASCII numbers with equally many digits, becomes a single edit of any length.
_REFERENCE = re.compile(
    rb"((?:&#(?:3[2-79]|[4-9][0-9]);){2,}|(?:&#1(?:[01][0-9]|2[0-6]);){2,})|(&[A-Za-z]{2,8};)\2+(?![#A-Za-z])|"
    rb"&(?:(?:amp|#0{0,8}38|#[xX]0{0,8}26);)*"
    rb"(?:#[xX]0{0,8}([0-9A-Fa-f]{1,6});?|#0{0,8}([0-9]{1,7});?|([A-Za-z][A-Za-z0-9]{1,30};))"
)


def _entity_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    cache: dict[bytes, bytes | None] = {}
    for found in _REFERENCE.finditer(data):
        start, end = found.span()
        numbers, repeated, *forms = found.groups()
        if numbers is not None:
            raw = bytes(map(int, numbers[2:-1].split(b";&#")))
            yield Edit(start, end, raw, 0.0, ((end - start) // len(raw), 1))
            continue
        reference = repeated or found[0]
        if reference not in cache:
            cache[reference] = _decode(None, None, repeated[1:]) if repeated else _decode(*forms)
        decoded = cache[reference]
        if decoded and repeated:
            yield Edit(start, end, decoded * ((end - start) // len(repeated)), 0.0, (len(repeated), len(decoded)))
        elif decoded is not None:
            yield Edit(start, end, decoded)


def _decode(hexadecimal: bytes | None, decimal: bytes | None, name: bytes | None) -> bytes | None:
    if name is None:
        return folded_character(int(hexadecimal, 16) if hexadecimal is not None else int(decimal or b""))
    chars = html5.get(name.decode("ascii"), "")
    parts = [folded_character(ord(char)) for char in chars]
    return b"".join(part for part in parts if part is not None) if chars else None


DEOBFUSCATION = Deobfuscation(
    "entities", RewriteKind.DECODE, r"&(?:#[xX]?[0-9A-Fa-f]|[A-Za-z][A-Za-z0-9]{1,30};)", _entity_edits
)
