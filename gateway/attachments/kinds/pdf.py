"""PDF files: the text of each page, hidden text too, with annotations, fields and links.

A page whose text is not all characters is refused: with images, with shapes that may be drawn letters, or in a font
that does not say which characters it shows.
"""

import ctypes
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from gateway.attachments.base import MOST_CHARACTERS, MOST_PAGES, File, Kind, Reason, Refused, Section
from gateway.attachments.markdown import table
from gateway.attachments.pdf_structure import beside_text, open_structure

_DEEPEST = 12
_MOST_OBJECTS = 100_000
_MOST_CURVES = 60
"""Curves of the shapes on a page that are no letters yet: those of rounded boxes, and not of a word."""
_MOST_OWN = 0.02
_WIDE = 1.6
"""How many times as wide as letters are high a gap between two cells of a table is."""
# pdfium joins the lines that a hyphen ends.
_HYPHENS = {0x02: "-\n", 0xFFFE: "-\n"}
_BLANKS = re.compile(r"[ \t\u00a0]+")


class _Pdf(Kind):
    id = "pdf"
    title = "PDF"
    media_types = frozenset({"application/pdf", "application/x-pdf"})
    endings = frozenset({"pdf"})

    def prepare(self) -> None:
        import pypdf.filters  # noqa: PLC0415 - a package of the extra, which loads this only when it reads
        import pypdfium2  # noqa: PLC0415

        assert pypdf.filters
        document = pypdfium2.PdfDocument.new()
        document.new_page(10, 10)
        saved = BytesIO()
        document.save(saved)
        document.close()
        self.read(File(saved.getvalue()))

    def read(self, file: File) -> list[Section]:
        import pypdfium2  # noqa: PLC0415 - a package of the extra

        structure = open_structure(file.data)
        document = pypdfium2.PdfDocument(file.data)
        if len(document) > MOST_PAGES or len(document) != len(structure.pages):
            raise Refused(Reason.TOO_LARGE if len(document) > MOST_PAGES else Reason.MALFORMED)
        found = []
        size = 0
        for number, outline in enumerate(structure.pages):
            text = _page(document, number)
            shown = _BLANKS.sub(" ", text)
            beside = [said for said in dict.fromkeys(beside_text(outline)) if _BLANKS.sub(" ", said) not in shown]
            size += len(text)
            if size > MOST_CHARACTERS:
                raise Refused(Reason.TOO_LARGE)
            found.append(Section(f"Page {number + 1}", "\n\n".join([text, *beside]).strip()))
        return found


def _page(document: Any, number: int) -> str:
    """Returns the text of a page with what its annotations show."""
    from pypdfium2 import raw  # noqa: PLC0415 - a package of the extra

    page = document[number]
    if raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_FAIL:
        raise Refused(Reason.MALFORMED)
    page.close()
    page = document[number]
    shapes, curves = _count_shapes(page)
    text = _text(page)
    if curves > _MOST_CURVES or (shapes and not text.strip()):
        # Letters that are drawn as shapes.
        raise Refused(Reason.IMAGE)
    page.close()
    return text


def _count_shapes(page: Any) -> tuple[int, int]:
    """Returns how many shapes a page has, and of how many curves they consist. Raises Refused for images."""
    from pypdfium2 import raw  # noqa: PLC0415 - a package of the extra

    shapes = curves = 0
    for count, each in enumerate(page.get_objects(max_depth=_DEEPEST)):
        if count > _MOST_OBJECTS:
            raise Refused(Reason.TOO_LARGE)
        if each.type == raw.FPDF_PAGEOBJ_IMAGE:
            raise Refused(Reason.IMAGE)
        if each.type == raw.FPDF_PAGEOBJ_FORM and each.level >= _DEEPEST - 1:
            raise Refused(Reason.MALFORMED)
        if each.type == raw.FPDF_PAGEOBJ_PATH:
            shapes += 1
            for at in range(min(raw.FPDFPath_CountSegments(each), _MOST_CURVES * 4)):
                segment = raw.FPDFPath_GetPathSegment(each, at)
                curves += raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_BEZIERTO
    return shapes, curves


def _text(page: Any) -> str:
    from pypdfium2 import raw  # noqa: PLC0415 - a package of the extra

    read = page.get_textpage()
    own = 0
    lines: list[list[str]] = [[""]]
    before: tuple[float, float, float] | None = None
    is_broken = False
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    count = read.count_chars()
    for at in range(count):
        code = raw.FPDFText_GetUnicode(read, at)
        letter = _HYPHENS.get(code) or chr(code)
        if raw.FPDFText_IsGenerated(read, at) == 1:
            is_broken |= letter == "\n"
            lines[-1][-1] += letter if letter not in "\r\n" and not is_broken else ""
            continue
        is_lost = raw.FPDFText_HasUnicodeMapError(read, at) == 1 and code not in _HYPHENS
        if is_lost or code in {0, 0xFFFD, 0xFFFF}:
            raise Refused(Reason.UNREADABLE)
        own += 0xE000 <= code < 0xF900
        if raw.FPDFText_GetCharBox(read, at, left, right, bottom, top):
            height = max(top.value - bottom.value, raw.FPDFText_GetFontSize(read, at) / 2)
            place = (right.value, (bottom.value + top.value) / 2, height)
            if before is not None and _is_next_cell(left.value, place, before, is_broken=is_broken):
                lines[-1].append("")
                is_broken = False
            before = place
        if is_broken:
            lines.append([""])
            is_broken = False
        said, ended, _ = letter.partition("\n")
        lines[-1][-1] += said if said != "\r" else ""
        if ended:
            lines.append([""])
            before = None
    read.close()
    if own > max(5, count * _MOST_OWN):
        raise Refused(Reason.UNREADABLE)
    return "\n".join(_with_tables(lines)).strip()


def _is_next_cell(
    left: float, place: tuple[float, float, float], before: tuple[float, float, float], *, is_broken: bool
) -> bool:
    """Whether a wide gap precedes a letter, in the same line, even where pdfium takes it for a new one."""
    (_, middle, height), (end, middle_before, height_before) = place, before
    is_wide = left - end > _WIDE * max(height, height_before)
    return is_wide and (not is_broken or abs(middle - middle_before) < min(height, height_before) / 2)


def _with_tables(lines: list[list[str]]) -> Iterator[str]:
    """Yields the lines, and those that follow each other with as many cells as the rows of a table."""
    rows: list[list[str]] = []
    for line in [*lines, [""]]:
        cells = [cell.strip() for cell in line]
        if rows and len(cells) != len(rows[0]):
            yield f"\n{table(rows)}\n" if len(rows) > 1 else "  ".join(rows[0])
            rows = []
        if len(cells) > 1:
            rows.append(cells)
        else:
            yield cells[0]


KIND = _Pdf()
