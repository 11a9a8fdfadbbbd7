"""Reads tables in text: separated values, Markdown, tables with rules or frames, columns aligned with spaces, and
SQL.

The header of a table is a line of short cells without digits; rows have as many cells.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import compile_pattern


class Cell(NamedTuple):
    start: int
    end: int
    text: str


_LONGEST_HEADER = 60
_IN_CODE = re.compile(r"[(){}\[\]=<>:]")
_RULE = re.compile(rb"[ \t]*[-+=|:\xe2][-+=|: \t\xe2\x94-\x95\x80-\xbf]*\r?")
_GAP = re.compile(rb"(?:[ \t]{2,}|\t)(?=\S)")
# Separators of framed tables in a terminal, and of headers in a wiki's markup, whose rows have a single bar.
_FRAME, _WIKI = "│".encode(), b"||"
_BRACED = re.compile(rb"\{\{[^{}]+\}\}")
_INSERT = compile_pattern(r"(?i)\binto\s+[^\s(]+\s*\(([^()']+)\)\s*values\s*")
_COPY = compile_pattern(r"(?i)\bcopy\s+[^\s(]+\s*\(([^()']+)\)\s*from\s+stdin[^\n]*\n")
_ROW = compile_pattern(r"\(((?:[^()']|'[^']*'|\([^()']*\))*)\)\s*,?\s*")
_VALUE = compile_pattern(r"\s*(?:N?'((?:[^']|'')*)'|([^,]+))\s*,?")


def rows_below[T](
    data: bytes, header: Expression, columns_of: Callable[[list[str]], dict[int, T]]
) -> Iterator[tuple[dict[int, T], list[Cell]]]:
    """Yields the rows of each table, with what its columns are by position.

    `header` finds lines that may be a header, including the line break at their end; `columns_of` returns what the
    columns of a header are, nothing if the table is of no interest.
    """
    at = 0
    while found := header.search(data, at):
        line_end = found.end() - 1
        line_start = data.rfind(b"\n", at, found.start() + 1) + 1 or at
        at = found.end()
        sign = _separator(data[line_start:line_end])
        names = _cells(data, line_start, line_end, sign)
        columns = columns_of([cell.text for cell in names]) if _is_header(names) else {}
        if sign == _WIKI:
            sign = b"|"
        if columns:
            for cells, end in _rows(data, at, sign, [cell.start - line_start for cell in names]):
                yield columns, cells
                at = end


def inserted_rows[T](
    data: bytes, columns_of: Callable[[list[str]], dict[int, T]]
) -> Iterator[tuple[dict[int, T], list[Cell]]]:
    """Yields the rows of `INSERT INTO t (a, b) VALUES (…), (…)`, as `rows_below` does. Values have no quotes."""
    for head in _INSERT.finditer(data):
        columns = columns_of(_column_names(head[1]))
        at = head.end()
        while columns and (row := _ROW.match(data, at)) is not None:
            yield columns, list(_values(data, *row.span(1)))
            at = row.end()


def copied_rows[T](
    data: bytes, columns_of: Callable[[list[str]], dict[int, T]]
) -> Iterator[tuple[dict[int, T], list[Cell]]]:
    """Yields the rows of a dump of PostgreSQL, which follow `COPY t (a, b) FROM stdin;`, as `rows_below` does."""
    for head in _COPY.finditer(data):
        names = _column_names(head[1])
        columns = columns_of(names)
        at = head.end()
        while columns and at < len(data):
            start, end = at, data.find(b"\n", at)
            at = len(data) if end < 0 else end + 1
            cells: list[Cell] = []
            for cell in data[start:at].rstrip(b"\r\n").split(b"\t"):
                cells.append(Cell(start, start + len(cell), cell.decode("utf-8", "replace")))
                start += len(cell) + 1
            if len(cells) != len(names):
                break
            yield columns, cells


def _column_names(names: bytes) -> list[str]:
    """Returns the names in the list of columns of a statement."""
    return [name.strip(' \t\r\n`"[]') for name in names.decode("utf-8", "replace").split(",")]


def _values(data: bytes, at: int, last: int) -> Iterator[Cell]:
    while at < last and (value := _VALUE.match(data, at, last)) is not None:
        start, end = value.span(1) if value.span(1) != (-1, -1) else value.span(2)
        yield Cell(start, end, data[start:end].decode("utf-8", "replace"))
        at = value.end()


def _separator(line: bytes) -> bytes:
    """Returns the most frequent separator, or b"" if only spaces separate the cells."""
    if line.count(_WIKI) > 2:
        return _WIKI
    sign = max((b"\t", b"|", b";", b",", _FRAME), key=line.count)
    return sign if sign in line else b""


def _cells(data: bytes, start: int, end: int, sign: bytes) -> list[Cell]:
    """Returns the cells of a line without surrounding quotes and spaces. A separator inside quotes does not count."""
    line = data[start:end].rstrip(b"\r")
    cells = []
    at = 0
    while at <= len(line):
        stop, following = _end_of_cell(line, at, sign)
        bare = line[at:stop].strip(b" \t\"'*`")
        if _BRACED.fullmatch(bare):
            bare = bare[2:-2]
        first = start + at + max(line[at:stop].find(bare), 0)
        cells.append(Cell(first, first + len(bare), bare.decode("utf-8", "replace")))
        at = following
    return cells


def _end_of_cell(line: bytes, at: int, sign: bytes) -> tuple[int, int]:
    """Returns the end of the cell that starts at `at`, and the start of the next one."""
    if not sign:
        gap = _GAP.search(line, at + 1)
        return gap.span() if gap else (len(line), len(line) + 1)
    quoted = line[at : at + 1] == b'"'
    close = line.find(b'"', at + 1) if quoted else -1
    stop = line.find(sign, close if close > 0 else at)
    stop = len(line) if stop < 0 else stop
    return stop, stop + len(sign)


def _is_header(cells: list[Cell]) -> bool:
    return sum(bool(cell.text) for cell in cells) >= 2 and all(
        len(cell.text) <= _LONGEST_HEADER and len(cell.text.split()) <= 5 and not _IN_CODE.search(cell.text)
        for cell in cells
    )


def _rows(data: bytes, at: int, sign: bytes, starts: list[int]) -> Iterator[tuple[list[Cell], int]]:
    """Yields the lines from `at` on that have as many cells as the header, with their ends. Skips rules.

    Cells that only a single blank separates are recognized by where those of the header start.
    """
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if not _RULE.fullmatch(data, at, end):
            cells = _cells(data, at, end, sign)
            if not sign and len(cells) != len(starts):
                cells = _aligned(data, at, end, starts)
            if len(cells) < len(starts):
                return
            yield cells, end
        at = end + 1


def _aligned(data: bytes, at: int, end: int, starts: list[int]) -> list[Cell]:
    """Returns the cells of a line that start at given columns; none if a word is in the way of a column."""
    line = data[at:end].decode("utf-8", "replace")
    if not _GAP.search(data, at, end) or any(line[start - 1 : start].strip() for start in starts[1:]):
        return []
    cells = []
    for first, last in pairwise([*starts, len(line)]):
        text = line[first:last].strip()
        place = at + len(line[: line.find(text, first)].encode())
        cells.append(Cell(place, place + len(text.encode()), text))
    return cells
