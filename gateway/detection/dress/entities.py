"""Character references of HTML and XML (HTML Living Standard, section 13.5), any number of times over."""

import re
from collections.abc import Iterator
from html.entities import html5

from gateway.detection.dress.characters import folded
from gateway.detection.dress.dress import Dress, Kind, Taken
from gateway.detection.dress.rewrite import Edit

# `&amp;amp;#64;` is `&amp;#64;` is `&#64;` is `@`. Browsers read a number without its semicolon, too.
_REFERENCE = re.compile(
    rb"&(?:(?:amp|#0{0,8}38|#[xX]0{0,8}26);)*"
    rb"(?:#[xX]0{0,8}([0-9A-Fa-f]{1,6});?|#0{0,8}([0-9]{1,7});?|([A-Za-z][A-Za-z0-9]{1,30};))"
)


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    read: dict[bytes, bytes | None] = {}
    for found in _REFERENCE.finditer(data):
        if (reference := found[0]) not in read:
            read[reference] = _shown(*found.groups())
        shown = read[reference]
        if shown is not None:
            yield Edit(*found.span(), shown)


def _shown(hexadecimal: bytes | None, decimal: bytes | None, name: bytes | None) -> bytes | None:
    if name is None:
        return folded(int(hexadecimal, 16) if hexadecimal is not None else int(decimal or b""))
    chars = html5.get(name.decode("ascii"), "")
    parts = [folded(ord(char)) for char in chars]
    return b"".join(part for part in parts if part is not None) if chars else None


DRESS = Dress("entities", Kind.DECODE, r"&(?:#[xX]?[0-9A-Fa-f]|[A-Za-z][A-Za-z0-9]{1,30};)", _edits)
