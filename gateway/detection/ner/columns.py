"""Corrects what the models find in tables and messages: a finding is in one cell, and columns of cities or products
hold no person.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from gateway.detection.deobfuscation.layout import CELLS
from gateway.detection.deobfuscation.rewrite import RewrittenText
from gateway.detection.ner.surroundings import WORDS
from gateway.detection.normalized_text import NormalizedText, normalize_text
from gateway.detection.overlaps import meets
from gateway.detection.recognizer import compile_pattern
from gateway.detection.recognizers._tables import Cell, inserted_rows, rows_below
from gateway.models import Entity

_OF_PERSONS = frozenset({"PERSON", "USERNAME", "STREET_ADDRESS", "AGE"})
_MOST_WORDS = 4
"""Maximum words of a cell. A longer one is a remark, which may name any person."""
_THING = f"{WORDS['goods']}|{WORDS['others']}"
_NAME = "(?:[ _-]?name)?"
_LINE_END = r"[ \"']{0,3}(?:(?:[,;|\t│]|  )[^\n\d]*\n|\r?\n)"
_HEADER = compile_pattern(rf"(?i)(?:\b|_)(?:{WORDS['places']}|{_THING}){_NAME}{_LINE_END}")
_PLACES, _THINGS = (
    re.compile(rf"(?:\w+[ _-])?(?:{words}){_NAME}", re.IGNORECASE) for words in (WORDS["places"], _THING)
)
# A line of cells aligned with blanks, which may be a header.
_ALIGNED = compile_pattern(r"(?m)^[^\n\d]*[^\s\d](?:\t|  )[^\n\d]*\n")
_GAP = re.compile(r"\t|(?<=\S)[ \u00a0]{2,}(?=\S)|[|*~]")
_BREAK = re.compile(rf"{_GAP.pattern}|\n")
_FRAME = re.compile(r"^(?:BEGIN|END):[A-Z-]+[ \t\r]*$", re.MULTILINE)  # of vCard, iCalendar and their parts
_CODE_LIST = re.compile(r"\*[A-Z]{2,3}:\Z")  # before a diagnosis or procedure in X12
_NUMBERED = frozenset({"ID_NUMBER", "MEDICAL_RECORD_NUMBER"})
_DIVIDED = _OF_PERSONS | _NUMBERED
_MIN_DIGITS = 5


class _Cell(NamedTuple):
    start: int
    end: int
    is_place: bool


def corrected(text: str, found: Sequence[Entity]) -> Sequence[Entity]:
    """Splits the entities, which are sorted and disjoint, at the borders of cells, and drops what cannot be a name."""
    if not any(one.type in _DIVIDED for one in found):
        return found
    frames = [frame.span() for frame in _FRAME.finditer(text)] if "BEGIN:" in text else []
    found = [one for one in found if not meets(frames, one.start, one.end)]
    normalized = normalize_text(text)
    starts = sorted(_starts(normalized))
    divided = [part for one in found for part in _divided(text, one, starts)]
    cells = list(_cells(normalized))
    return [part for one in divided for part in _outside(text, one, cells)] if cells else divided


def _starts(normalized: NormalizedText) -> Iterator[int]:
    """Yields where cells of aligned tables start."""
    rows = rows_below(normalized.data, _ALIGNED, lambda header: dict.fromkeys(range(len(header)), True))
    return (
        start for start, _ in normalized.source_spans([cell[:2] for _, cells in rows for cell in cells if cell.text])
    )


def _cells(normalized: NormalizedText) -> Iterator[_Cell]:
    """Yields the cells of columns that hold no person, in order."""
    data = normalized.data
    rows = chain(rows_below(data, _HEADER, _columns), inserted_rows(data, _columns))
    cells = list(_of_nobody(rows))
    if b"</t" in data or b"</T" in data:
        html = RewrittenText(data, CELLS.edits(data, ()))
        for start, end, is_place in _of_nobody(rows_below(html.data, _HEADER, _columns)):
            if (span := html.span(start, end, 1.0)) is not None:
                cells.append(_Cell(*span, is_place))
    cells.sort()
    for (start, end), cell in zip(normalized.source_spans([cell[:2] for cell in cells]), cells, strict=True):
        yield _Cell(start, end, cell.is_place)


def _of_nobody(rows: Iterable[tuple[dict[int, bool], list[Cell]]]) -> Iterator[_Cell]:
    for columns, cells in rows:
        for number, cell in enumerate(cells):
            if number in columns and cell.text and len(cell.text.split()) <= _MOST_WORDS:
                yield _Cell(cell.start, cell.end, columns[number])


def _divided(text: str, one: Entity, starts: Sequence[int]) -> Iterator[Entity]:
    """Yields the parts of an entity in each cell, by what they are."""
    within = starts[bisect_right(starts, one.start) : bisect_left(starts, one.end)]
    gaps = (
        [gap.end() for gap in _BREAK.finditer(text, one.start, one.end)]
        if _GAP.search(text, one.start, one.end)
        else []
    )
    if one.type in _NUMBERED and _CODE_LIST.search(text, max(0, one.start - 5), one.start):
        return
    if one.type not in _DIVIDED or not (within or gaps):
        yield one
        return
    for first, last in pairwise([one.start, *sorted({*within, *gaps}), one.end]):
        for part in _part(text, one, first, last):
            letters, digits = (sum(map(test, text[part.start : part.end])) for test in (str.isalpha, str.isdigit))
            if letters and (digits or one.type == "PERSON"):
                yield part
            elif letters:
                yield part._replace(type="PERSON" if " " in text[part.start : part.end] else "LOCATION")
            elif digits >= _MIN_DIGITS:
                yield part._replace(type=one.type if one.type in _NUMBERED else "ID_NUMBER")


def _columns(header: list[str]) -> dict[int, bool]:
    """Returns which columns hold places (True) or things (False)."""
    columns: dict[int, bool] = {}
    for number, name in enumerate(header):
        if _PLACES.fullmatch(name):
            columns[number] = True
        elif _THINGS.fullmatch(name):
            columns[number] = False
    return columns


def _outside(text: str, one: Entity, cells: Sequence[_Cell]) -> Iterator[Entity]:
    """Yields the parts of an entity outside the cells, and as places those in cells of places."""
    if one.type not in _OF_PERSONS:
        yield one
        return
    at = one.start
    for number in range(bisect_right(cells, one.start, key=lambda cell: cell.end), len(cells)):
        cell = cells[number]
        if cell.start >= one.end:
            break
        if cell.is_place and (one.type == "AGE" or any(map(str.isdigit, text[cell.start : cell.end]))):
            continue  # an address
        first, last = max(cell.start, at), min(cell.end, one.end)
        yield from _part(text, one, at, first)
        if cell.is_place:
            yield one._replace(type="LOCATION", start=first, end=last)
        at = last
    yield from _part(text, one, at, one.end)


def _part(text: str, one: Entity, start: int, end: int) -> Iterator[Entity]:
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    if start < end:
        yield one._replace(start=start, end=end)
