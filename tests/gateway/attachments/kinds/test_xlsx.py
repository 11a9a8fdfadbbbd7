"""Workbooks: what each cell shows, and what lies over the cells."""

import datetime
import io
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment

from gateway.attachments.base import Reason, Refused
from tests.gateway.attachments.documents import changed
from tests.gateway.attachments.kinds.readings import read


def saved(book: Any) -> bytes:
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (1234, "00000", "01234"),
        (0.19, "0%", "19%"),
        (0.125, "0.0%", "12.5%"),
        (datetime.date(1980, 2, 3), "dd/mm/yyyy", "1980-02-03"),
        (datetime.datetime(1980, 2, 3, 4, 5), "dd/mm/yyyy hh:mm", "1980-02-03 04:05:00"),
        (datetime.time(4, 5, 6), "hh:mm:ss", "04:05:06"),
        (3, '0 "days"', "3"),
        (3, "[Red]0.00", "3"),
        (123456789012345, "General", "123456789012345"),
        (0.1, "General", "0.1"),
        (True, "General", "TRUE"),
        ("=A2+1", "General", "=A2+1"),
        ("a\nb", "General", "a<br>b"),
    ],
)
def test_a_cell_shows_its_value(value: Any, form: str, shown: str) -> None:
    book = openpyxl.Workbook()
    book["Sheet"]["A1"] = value
    book["Sheet"]["A1"].number_format = form
    assert read(saved(book), "a.xlsx") == f"--- Sheet: Sheet ---\n\n| {shown} |\n| --- |"


def test_comments_links_headers_and_places() -> None:
    book = openpyxl.Workbook()
    sheet = book["Sheet"]
    sheet["B2"] = "a"
    sheet["B2"].comment = Comment("c", "d")
    sheet["B3"] = "e"
    sheet["B3"].hyperlink = "https://f.example"
    sheet.oddHeader.center.text = "g"
    sheet.row_dimensions[3].hidden = True
    text = read(saved(book), "a.xlsx")
    assert "|  | a |" in text
    assert "[B2] c" in text
    assert "|  | e (https://f.example) |" in text
    assert "\n\ng\n\n" in text


def test_what_lies_over_the_cells_is_read_or_refused() -> None:
    book = openpyxl.Workbook()
    chart = openpyxl.chart.BarChart()
    book["Sheet"].add_chart(chart, "A1")
    with pytest.raises(Refused) as refused:
        read(saved(book), "a.xlsx")
    assert refused.value.reason is Reason.IMAGE


def test_a_sheet_that_is_not_listed_is_refused() -> None:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
    data = changed(
        saved(openpyxl.Workbook()),
        {"xl/worksheets/other.xml": b"<worksheet/>"},
        content_types=f'<Override PartName="/xl/worksheets/other.xml" ContentType="{kind}"/>',
    )
    with pytest.raises(Refused):
        read(data, "a.xlsx")
