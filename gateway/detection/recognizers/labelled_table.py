"""Cells of tables whose column header names personal data: CSV and other separated values, Markdown, tables with rules
or frames, and columns aligned with spaces. A header is a line of short cells without digits; rows have as many cells.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._columns import ENDINGS, TYPES, Column, columns_of


class _Cell(NamedTuple):
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
# With a separator after the word, or before it at the end of the line.
_AFTER = rf"{ENDINGS}[ \"']{{0,3}}(?:[,;|\t│]|  )"
_LAST = rf"(?:[,;|\t][ \"']{{0,3}}(?:\w+[ _-])?|  ){ENDINGS}[ \"']{{0,3}}\r?\n"
_PREFILTER = f"(?i)(?:{_AFTER}|{_LAST})"
_HEADER = compile_pattern(rf"(?i)(?:{_AFTER}[^\n\d]*\n|{_LAST})")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    at = 0
    while found := _HEADER.search(data, at):
        line_end = found.end() - 1
        line_start = data.rfind(b"\n", at, found.start() + 1) + 1 or at
        at = found.end()
        sign = _separator(data[line_start:line_end])
        header = _cells(normalized, line_start, line_end, sign)
        columns = columns_of([cell.text for cell in header]) if _is_header(header) else {}
        if sign == _WIKI:
            sign = b"|"
        if columns:
            for cells, end in _rows(normalized, at, sign, len(header)):
                yield from _row(cells, columns)
                at = end


def _separator(line: bytes) -> bytes:
    """Returns the most frequent separator, or b"" if only spaces separate the cells."""
    if line.count(_WIKI) > 2:
        return _WIKI
    sign = max((b"\t", b"|", b";", b",", _FRAME), key=line.count)
    return sign if sign in line else b""


def _cells(normalized: NormalizedText, start: int, end: int, sign: bytes) -> list[_Cell]:
    """Returns the cells of a line without surrounding quotes and spaces. A separator inside quotes does not count."""
    line = normalized.data[start:end].rstrip(b"\r")
    cells = []
    at = 0
    while at <= len(line):
        stop, following = _end_of_cell(line, at, sign)
        bare = line[at:stop].strip(b" \t\"'*`")
        if _BRACED.fullmatch(bare):
            bare = bare[2:-2]
        first = start + at + max(line[at:stop].find(bare), 0)
        cells.append(_Cell(first, first + len(bare), bare.decode("utf-8", "replace")))
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


def _is_header(cells: list[_Cell]) -> bool:
    return sum(bool(cell.text) for cell in cells) >= 2 and all(
        len(cell.text) <= _LONGEST_HEADER and len(cell.text.split()) <= 5 and not _IN_CODE.search(cell.text)
        for cell in cells
    )


def _rows(normalized: NormalizedText, at: int, sign: bytes, width: int) -> Iterator[tuple[list[_Cell], int]]:
    """Yields the lines from `at` on that have as many cells as the header, with their ends. Skips rules."""
    data = normalized.data
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if not _RULE.fullmatch(data, at, end):
            cells = _cells(normalized, at, end, sign)
            if len(cells) < width or (not sign and len(cells) > width):
                return
            yield cells, end
        at = end + 1


def _row(cells: list[_Cell], columns: dict[int, Column]) -> Iterator[Match]:
    for number, column in columns.items():
        if cells[number].text and column.check(cells[number].text):
            yield Match(cells[number].start, cells[number].end, column.score, column.type.name)


RECOGNIZERS = (
    FunctionRecognizer(
        "labelled.table",
        TYPES,
        (_PREFILTER,),
        _find,
        examples=(
            Example("id,first_name,dob\n1,Zaphod,1985-12-04\n", "Zaphod", "PERSON"),
            Example("id,first_name,dob\n1,Zaphod,1985-12-04\n", "1985-12-04", "DATE_OF_BIRTH"),
            Example("name;customer_id;city\nJane Doe;K-48213;Rome", "K-48213", "CUSTOMER_ID"),
            Example("| Patient ID | Age |\n|---|---|\n| 004812 | 57 |\n", "004812", "MEDICAL_RECORD_NUMBER"),
            Example("Kundennummer\tStraße\n4711223\tAm Markt 3\n", "Am Markt 3", "STREET_ADDRESS"),
            Example("id,phone\n1,2125550134\n2,6465550177\n", "6465550177", "PHONE_NUMBER"),
            Example("City  Passport   Stay\nRome  KX204815   3\nOslo  MB771203   12", "MB771203", "ID_NUMBER"),
            Example("+----+--------+\n| id | cell   |\n+----+--------+\n| 7  | 555019 |", "555019", "PHONE_NUMBER"),
            Example("imię;nazwisko;PESEL\nJan;Zając;88100136652\n", "88100136652", "ID_NUMBER"),
            Example("Ad\tSoyad\tDoğum tarihi\nOrhan\tÇakır\t12.04.1961\n", "12.04.1961", "DATE_OF_BIRTH"),
            Example("氏名,生年月日,電話番号\n山田太郎,1961年4月12日,0352345678\n", "1961年4月12日", "DATE_OF_BIRTH"),
            Example("姓名|电话|客户编号\n王秀英|13812345678|48213077\n", "13812345678", "PHONE_NUMBER"),
            Example("الاسم;رقم العميل\nخالد المنصوري;48213077\n", "خالد المنصوري", "PERSON"),
            Example("Фамилия;Телефон\nИванова;84951234567\n", "Иванова", "PERSON"),
            Example("user;password\njdoe;Wat3rfall\nmroe;sunshine", "sunshine", "PASSWORD"),
        ),
        counter_examples=(
            "item,number,price\napple,12,3.50\n",
            "We need a name, an age, and a number.\nThat is all, really, 12.",
            "name,version\nnumpy,2.1.0\n",
            "NAME   READY   AGE\nweb-6d4cf56db6-7xk2p   1/1   5d3h\n",
            "token,pos,lemma\nrunning,VERB,run\n",
            "module.exports = {\n  login,\n  adduser,\n  get,\n}\n",
            "field,type,password\nname,string,required\n",
            "名前,種類\n東京支店,店舗\n",
            "الاسم,النوع\nقاعدة البيانات,ملف\n",
            "我的电话，地址\n都不要，谢谢\n",
        ),
    ),
)
