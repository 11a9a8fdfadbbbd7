"""Corrects what the models find in tables by the headers of columns: a column of cities or products holds no person."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from gateway.detection.deobfuscation.layout import CELLS
from gateway.detection.deobfuscation.rewrite import RewrittenText
from gateway.detection.ner.surroundings import WORDS
from gateway.detection.normalized_text import normalize_text
from gateway.detection.recognizer import compile_pattern
from gateway.detection.recognizers._tables import Cell, inserted_rows, rows_below
from gateway.models import Entity

_OF_PERSONS = frozenset({"PERSON", "USERNAME", "STREET_ADDRESS", "AGE"})
_MOST_WORDS = 4
"""Words of a cell. A longer one is a remark, which may name anybody."""
_THING = f"{WORDS['goods']}|{WORDS['others']}"
_NAME = "(?:[ _-]?name)?"
_LINE_END = r"[ \"']{0,3}(?:(?:[,;|\t│]|  )[^\n\d]*\n|\r?\n)"
_HEADER = compile_pattern(rf"(?i)(?:\b|_)(?:{WORDS['places']}|{_THING}){_NAME}{_LINE_END}")
_PLACES, _THINGS = (
    re.compile(rf"(?:\w+[ _-])?(?:{words}){_NAME}", re.IGNORECASE) for words in (WORDS["places"], _THING)
)


class _Cell(NamedTuple):
    start: int
    end: int
    is_place: bool


def corrected(text: str, found: Sequence[Entity]) -> Sequence[Entity]:
    """Returns the entities, which are sorted and disjoint, without those of cells that name nobody."""
    if not any(one.type in _OF_PERSONS for one in found):
        return found
    cells = list(_cells(text))
    return [part for one in found for part in _outside(text, one, cells)] if cells else found


def _cells(text: str) -> Iterator[_Cell]:
    """Yields the cells of columns that hold no person, in order."""
    normalized = normalize_text(text)
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
