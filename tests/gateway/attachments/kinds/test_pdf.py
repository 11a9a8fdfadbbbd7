"""PDF files: pages, hyphens, tables, forms and links."""

from tests.gateway.attachments.kinds.readings import read
from tests.gateway.attachments.pdf_files import pdf


def test_lines_pages_and_tables() -> None:
    first = [(50.0, 800.0, "a b"), (50.0, 780.0, "long-"), (50.0, 767.0, "word 030-"), (50.0, 754.0, "123")]
    second = [(50.0, 800.0, "c"), (300.0, 800.0, "d"), (50.0, 785.0, "e"), (300.0, 785.0, "f"), (50.0, 760.0, "g")]
    assert read(pdf([first, second]), "a.pdf") == (
        "--- Page 1 ---\n\na b\nlong-\nword 030-\n123\n\n--- Page 2 ---\n\n| c | d |\n| --- | --- |\n| e | f |\n\ng"
    )


def test_a_page_without_anything() -> None:
    assert read(pdf([b""]), "a.pdf") == "--- Page 1 ---"


def test_annotations() -> None:
    notes = [
        b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (mailto:a@b.example) >> >>",
        b"<< /Type /Annot /Subtype /Highlight /Rect [0 0 9 9] /Contents (note) /T (author) >>",
        b"<< /Type /Annot /Subtype /Widget /Rect [0 0 9 9] /FT /Ch /V [(one) (two)] >>",
    ]
    text = read(pdf([[(50.0, 800.0, "a")]], page="/Annots [10 0 R 11 0 R 12 0 R]", more=notes), "a.pdf")
    assert text == "--- Page 1 ---\n\na\n\n(mailto:a@b.example)\n\nnote\n\nauthor\n\none, two"
