"""Workbooks of Excel: each sheet as a Markdown table, hidden ones, rows and columns too, with comments and text boxes.

A cell shows its value as Excel does where that matters: dates, percentages, leading zeros. A formula without a stored
value shows itself.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from gateway.attachments.base import MOST_CHARACTERS, File, Kind, Reason, Refused, Section
from gateway.attachments.markdown import table
from gateway.attachments.ooxml import (
    Links,
    check_all_read,
    descriptions,
    document,
    drawn_paragraphs,
    short,
)
from gateway.attachments.packages import Element, Package, attribute, descendants, local, prepare

_MAIN = "sheet.main"
_SHEETS = frozenset({"worksheet"})
_TEXTS = frozenset({_MAIN, *_SHEETS, "sharedStrings", "comments", "threadedcomments", "drawing", "vmlDrawing"})
_READ = frozenset(
    {"t", "v", "f", "text", "oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter"}
    | {"formula1", "formula2", "definedName", "author", "from", "to", "col", "row", "colOff", "rowOff"}
)
_HEADERS = frozenset({"oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter"})
_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})\Z")
_HEADER_CODES = re.compile(r"&(?:[LCRPNDTAFZGBIUESXYHO+-]|\"[^\"]*\"|K[0-9A-F]{6}|\d+)", re.IGNORECASE)
_MOST_CELLS = 500_000
# Numbers of formats that Excel has built in: dates and times, and percentages.
_DATES, _PERCENTS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}), frozenset({9, 10})
_QUOTED = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|_.|\*.")
_ZEROS = re.compile(r"0{2,}\Z")
# The day that Excel numbers 0; it holds 1900 to be a leap year.
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)


class _Xlsx(Kind):
    id = "xlsx"
    title = "Excel workbook"
    media_types = frozenset({"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"})
    endings = frozenset({"xlsx"})

    def prepare(self) -> None:
        prepare()

    def read(self, file: File) -> list[Section]:
        package, types, main = document(file.data, _TEXTS, _MAIN)
        book = _Book(package, main)
        listed = set[str]()
        found = []
        for each in descendants(package.xml(main), "sheet"):
            id = next((value for key, value in each.attrib.items() if key.startswith("{")), "")
            name = book.links.parts.get(id, "")
            listed.add(name)
            if short(types.get(name, "")) not in _SHEETS:
                raise Refused(Reason.UNKNOWN_PART)
            state = attribute(each, "state")
            hidden = ", hidden" if state in {"hidden", "veryHidden"} else ""
            found.append(Section(f"Sheet: {attribute(each, 'name')}{hidden}", book.sheet(name)))
        if {name for name, kind in types.items() if short(kind) in _SHEETS} - listed:
            raise Refused(Reason.UNKNOWN_PART)
        return found


class _Book:
    """The strings and formats that the sheets of a workbook share."""

    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self.links = Links(package, main)
        root = package.xml(main)
        properties = next(descendants(root, "workbookPr"), None)
        is_1904 = properties is not None and attribute(properties, "date1904") in {"1", "true"}
        self._epoch = _EPOCH_1904 if is_1904 else _EPOCH
        self._strings = [_rich(each) for name in self.links.of("sharedStrings") for each in self._items(name)]
        self._formats = [each for name in self.links.of("styles") for each in _formats(package.xml(name))]
        self._cells = 0

    def _items(self, name: str) -> Iterator[Element]:
        root = self._package.xml(name)
        check_all_read(root, frozenset({"t"}))
        return (each for each in root if local(each.tag) == "si")

    def sheet(self, name: str) -> str:
        """Returns the text of a sheet."""
        root, links = self._package.xml(name), Links(self._package, name)
        check_all_read(root, _READ)
        said = [_HEADER_CODES.sub("", "".join(each.itertext())).strip() for each in descendants(root, *_HEADERS)]
        found = [*filter(None, said), table([*self._rows(root, links)])]
        for kind in ("comments", "threadedComment"):
            for part in links.of(kind):
                comments = self._package.xml(part)
                each_said = descendants(comments, "comment", "threadedComment")
                found += [f"[{attribute(each, 'ref')}] {_rich(each)}" for each in each_said]
        for part in links.of("drawing"):
            drawing = self._package.xml(part)
            if any(True for _ in descendants(drawing, "pic", "graphicFrame", "contentPart")):
                raise Refused(Reason.IMAGE)
            found += [drawn_paragraphs(each) for each in descendants(drawing, "txBody")]
            found += descriptions(drawing)
        return "\n\n".join(text for text in found if text)

    def _rows(self, root: Element, links: Links) -> Iterator[list[str]]:
        addresses = {}
        for each in descendants(root, "hyperlink"):
            ids = [value for key, value in each.attrib.items() if key.startswith("{") and value in links.addresses]
            addresses.update({attribute(each, "ref"): links.addresses[id] for id in ids})
        number = length = 0
        for row in descendants(root, "row"):
            cells: dict[int, str] = {}
            place = 0
            number = int(attribute(row, "r") or number + 1)
            for cell in row:
                if local(cell.tag) != "c":
                    continue
                reference = attribute(cell, "r") or ""
                place = _column(reference) if reference else place + 1
                text = self._value(cell)
                if address := addresses.get(reference):
                    text = f"{text} ({address})"
                if text:
                    cells[place] = text
                    self._cells += 1
                    length += len(text)
            if self._cells > _MOST_CELLS or length > MOST_CHARACTERS:
                raise Refused(Reason.TOO_LARGE)
            if cells:
                last = max(cells)
                self._cells += last
                yield [cells.get(column, "") for column in range(1, last + 1)]

    def _value(self, cell: Element) -> str:
        kind = attribute(cell, "t") or "n"
        value = next((each.text or "" for each in cell if local(each.tag) == "v"), "")
        formula = next((each.text or "" for each in cell if local(each.tag) == "f"), "")
        if kind == "inlineStr":
            return "".join(_rich(each) for each in cell if local(each.tag) == "is")
        if not value:
            return f"={formula}" if formula else ""
        if kind == "s":
            return self._strings[int(value)]
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind != "n":
            return value
        style = int(attribute(cell, "s") or 0)
        return self._shown(float(value), value, self._formats[style] if style < len(self._formats) else "")

    def _shown(self, number: float, value: str, form: str) -> str:
        """Returns a number as its format shows it."""
        if form == "date" and 0 <= number < 2958466:
            moment = self._epoch + timedelta(seconds=round(number * 86400))
            return moment.strftime("%H:%M:%S" if number < 1 else "%Y-%m-%d" if number % 1 == 0 else "%Y-%m-%d %H:%M:%S")
        if form == "percent":
            return f"{number * 100:.10g}%"
        plain = f"{number:.15g}"
        if _ZEROS.match(form) and plain.isdecimal():
            return plain.zfill(len(form))
        return plain if "e" not in plain else value


def _rich(element: Element) -> str:
    """Returns a string of one or more runs. How it is read aloud is not repeated."""
    spoken = {id(each) for part in descendants(element, "rPh") for each in part.iter()}
    return "".join(each.text or "" for each in descendants(element, "t", "text") if id(each) not in spoken)


def _column(reference: str) -> int:
    found = _REFERENCE.match(reference)
    if found is None:
        raise Refused(Reason.MALFORMED)
    number = 0
    for letter in found[1]:
        number = number * 26 + ord(letter) - 64
    return number


def _formats(root: Element) -> list[str]:
    """Returns what the format of each style means: `date`, `percent`, the zeros of a number with that many digits."""
    own = {attribute(each, "numFmtId"): attribute(each, "formatCode") or "" for each in descendants(root, "numFmt")}
    styles = next(descendants(root, "cellXfs"), None)
    return [_meaning(attribute(each, "numFmtId") or "0", own) for each in (styles if styles is not None else ())]


def _meaning(number: str, own: dict[str | None, str]) -> str:
    code = _QUOTED.sub("", own.get(number, "")).partition(";")[0].lower()
    if (number not in own and int(number) in _DATES) or (code != "general" and re.search("[ymdhs]", code)):
        return "date"
    if (number not in own and int(number) in _PERCENTS) or "%" in code:
        return "percent"
    return code if _ZEROS.match(code) else ""


KIND = _Xlsx()
