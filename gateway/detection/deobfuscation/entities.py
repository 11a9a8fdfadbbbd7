"""Character references of HTML and XML (HTML Living Standard, section 13.5), any number of times over."""

import re
from collections.abc import Iterator
from html.entities import html5

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.characters import folded
from gateway.detection.deobfuscation.rewrite import Edit

# `&amp;amp;#64;` is `&amp;#64;` is `&#64;` is `@`. Browsers read a number without its semicolon, too.
# One after the other, the same one or numbers of ASCII of one length make one edit, however many they are.
_REFERENCE = re.compile(
    rb"((?:&#(?:3[2-79]|[4-9][0-9]);){2,}|(?:&#1(?:[01][0-9]|2[0-6]);){2,})|(&[A-Za-z]{2,8};)\2+(?![#A-Za-z])|"
    rb"&(?:(?:amp|#0{0,8}38|#[xX]0{0,8}26);)*"
    rb"(?:#[xX]0{0,8}([0-9A-Fa-f]{1,6});?|#0{0,8}([0-9]{1,7});?|([A-Za-z][A-Za-z0-9]{1,30};))"
)


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    read: dict[bytes, bytes | None] = {}
    for found in _REFERENCE.finditer(data):
        start, end = found.span()
        numbers, same, *forms = found.groups()
        if numbers is not None:
            raw = bytes(map(int, numbers[2:-1].split(b";&#")))
            yield Edit(start, end, raw, 0.0, ((end - start) // len(raw), 1))
            continue
        reference = same or found[0]
        if reference not in read:
            read[reference] = _shown(None, None, same[1:]) if same else _shown(*forms)
        shown = read[reference]
        if shown and same:
            yield Edit(start, end, shown * ((end - start) // len(same)), 0.0, (len(same), len(shown)))
        elif shown is not None:
            yield Edit(start, end, shown)


def _shown(hexadecimal: bytes | None, decimal: bytes | None, name: bytes | None) -> bytes | None:
    if name is None:
        return folded(int(hexadecimal, 16) if hexadecimal is not None else int(decimal or b""))
    chars = html5.get(name.decode("ascii"), "")
    parts = [folded(ord(char)) for char in chars]
    return b"".join(part for part in parts if part is not None) if chars else None


DRESS = Deobfuscation("entities", Kind.DECODE, r"&(?:#[xX]?[0-9A-Fa-f]|[A-Za-z][A-Za-z0-9]{1,30};)", _edits)
