"""Reads labels that only layout and markup connect with values: cells of HTML tables and definition lists, pairs of
attributes, elements with a value, leaders (dots that lead the eye), and a question on the line above.

Recognizers know labels before a sign, and headers above columns. A row of two cells becomes `label: value`, a longer
one a line with bars between the cells, `name="x" value="y"` becomes `name="x": "y"`, `<x value="y"/>` becomes
`<x": "y"/>`, and leaders become a colon, as does the break between a question and its answer.
"""

from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind, replacement
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
# An element whose text is in an attribute, as in HL7's FHIR and CDA: `<birthDate value="1974-12-25"/>`.
_ELEMENT = r"""<[A-Za-z][\w:.\-]*(\s+value=")[^"<>]"""
_LEADERS = r"((?:\.{4,}|(?:\. ){3,}\.?|_{4,})[ \t]*:?[ \t]*)[^\s._]"

_QUESTION = r"(?:\?|\b(?:pls|plz|please|bitte|svp|por favor|per favore))[\"')*_.! ]{0,4}[ \t]{0,4}\r?\n"
_TIME = r"[\[(]?(?:\d[\d./\-]{5,9},?[ T])?\d\d?:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?"
# On a line of its own, as in Slack, or in front of the text.
_HEAD = rf"(?:[\w.\-]{{1,24}}(?: [\w.\-]{{1,24}})?[ \t]{{1,4}}{_TIME}[ \t]*\r?\n)?"
_SPEAKER = rf"(?:{_TIME}(?: -)?[ \t]{{1,4}})?(?:\*{{0,2}}\w[\w.\-]{{0,24}}(?: [\w.\-]{{1,24}})?:\*{{0,2}}[ \t]{{1,4}})?"
_ANSWER = (
    rf"(?i){_QUESTION}[ \t>]{{0,8}}(?:\r?\n[ \t>]{{0,8}})?{_HEAD}{_SPEAKER}(?:it'?s |das ist |ist |c'est |es |è |é )?"
)


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
