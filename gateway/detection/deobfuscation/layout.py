"""Reads what only layout and markup say: cells of HTML tables and definition lists, pairs of attributes, elements
with a value, and leaders, which are dots that lead the eye from a label to its value.

Recognizers know labels before a sign, and headers above columns. A row of two cells becomes `label: value`, a longer
one a line with bars between the cells, `name="x" value="y"` becomes `name="x": "y"`, `<x value="y"/>` becomes
`<x": "y"/>`, and leaders become a colon.
"""

from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.recognizer import compile_pattern

# Tags within a cell that only say how it looks.
_LOOKS = r"(?:b|strong|i|em|u|p|div|span|font|code|small|a)"
_OPEN = rf"(?:<{_LOOKS}(?:\s[^<>]*)?>\s*)*"
_CLOSE = rf"(?:</{_LOOKS}>\s*)*"
_CELL = rf"<t[dh](?:\s[^<>]*)?>\s*{_OPEN}"
_ROW = rf"<tr(?:\s[^<>]*)?>\s*{_CELL}"
_BETWEEN_CELLS = compile_pattern(rf"(?i){_CLOSE}</t[dh]>\s*{_CELL}")
_BETWEEN_ROWS = compile_pattern(
    rf"(?i){_CLOSE}</t[dh]>\s*</tr>\s*(?:</?t(?:head|body|foot)(?:\s[^<>]*)?>\s*)*(?:{_ROW})?|{_ROW}"
)
_TO_DEFINITION = compile_pattern(rf"(?i){_CLOSE}</dt>\s*<dd(?:\s[^<>]*)?>\s*{_OPEN}")
_PAIR = r"""\b(?:name|key)="[\w.\-]+("(?:\s+[\w:\-]+="[^"<>]*")*\s+(?:value|content)=")"""
_BETWEEN_ATTRIBUTES = compile_pattern(_PAIR)
# An element whose text is in an attribute, as in HL7's FHIR and CDA: `<birthDate value="1974-12-25"/>`.
_ELEMENT = r"""<[A-Za-z][\w:.\-]*(\s+value=")[^"<>]"""
_TO_VALUE = compile_pattern(_ELEMENT)
_LEADERS = r"((?:\.{4,}|(?:\. ){3,}\.?|_{4,})[ \t]*:?[ \t]*)[^\s._]"
_LEADER = compile_pattern(_LEADERS)


def _cell_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    at = 0
    for row in _BETWEEN_ROWS.finditer(data):
        yield from _row(data, at, row.start())
        yield Edit(*row.span(), b"\n")
        at = row.end()
    yield from _row(data, at, len(data))
    yield from (Edit(*found.span(), b": ") for found in _TO_DEFINITION.finditer(data))


def _row(data: bytes, start: int, end: int) -> Iterator[Edit]:
    cells = [found.span() for found in _BETWEEN_CELLS.finditer(data, start, end)]
    sign = b": " if len(cells) == 1 else b" | "
    return (Edit(*cell, sign) for cell in cells)


def _attribute_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    return (Edit(*found.span(1), b'": "') for found in _BETWEEN_ATTRIBUTES.finditer(data))


def _element_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    return (Edit(*found.span(1), b'": "') for found in _TO_VALUE.finditer(data))


def _leader_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    return (Edit(*found.span(1), b": ") for found in _LEADER.finditer(data))


CELLS = Deobfuscation("cells", RewriteKind.LAYOUT, r"(?i)</t[dh]>\s*<t[dh][\s>]|</dt>\s*<dd[\s>]", _cell_edits, b"</")
ATTRIBUTES = Deobfuscation("attributes", RewriteKind.LAYOUT, _PAIR, _attribute_edits, b'="')
ELEMENTS = Deobfuscation("elements", RewriteKind.LAYOUT, _ELEMENT, _element_edits, b' value="')
LEADERS = Deobfuscation("leaders", RewriteKind.LAYOUT, _LEADERS, _leader_edits)
