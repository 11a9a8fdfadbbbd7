"""Reads labels that only layout and markup connect with values: cells of HTML tables and definition lists, pairs of
attributes, elements with a value, leaders (dots that lead the eye), and a question on the line above.

Recognizers know labels before a sign, and headers above columns. A row of two cells becomes `label: value`, a longer
one a line with bars between the cells, `name="x" value="y"` becomes `name="x": "y"`, `<x value="y"/>` becomes
`<x": "y"/>`, and leaders become a colon, as does the break between a question and its answer.
"""

from collections.abc import Iterator

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind, replacement

_EXPRESSIONS = Expressions(read_toml(__file__)["expressions"])
_BETWEEN_CELLS, _BETWEEN_ROWS, _TO_DEFINITION = _EXPRESSIONS.re2("between_cells", "between_rows", "to_definition")
_PAIR, _ELEMENT, _LEADERS = (_EXPRESSIONS[name] for name in ("pair", "element", "leaders"))
_QUESTION, _ANSWER = _EXPRESSIONS["question"], _EXPRESSIONS["answer"]


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


CELLS = Deobfuscation("cells", RewriteKind.LAYOUT, r"(?i)</t[dh]>\s*<t[dh][\s>]|</dt>\s*<dd[\s>]", _cell_edits, b"</")
ATTRIBUTES = Deobfuscation("attributes", RewriteKind.LAYOUT, _PAIR, replacement(_PAIR, b'": "'), b'="')
ELEMENTS = Deobfuscation("elements", RewriteKind.LAYOUT, _ELEMENT, replacement(_ELEMENT, b'": "'), b' value="')
LEADERS = Deobfuscation("leaders", RewriteKind.LAYOUT, _LEADERS, replacement(_LEADERS, b": "))
ANSWERS = Deobfuscation(
    "question_answer", RewriteKind.DECODE, f"(?i){_QUESTION}", replacement(_ANSWER, b": ", 0.5, group=0), b"\n"
)
"""The speaker's name and the time may come between the question and the answer, as in messages and chat exports."""
