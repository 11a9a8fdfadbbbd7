"""Word documents: everything that a reader may see, wherever it is kept."""

import io
from collections.abc import Callable
from typing import Any

import docx
import pytest

from gateway.attachments.base import Reason, Refused
from tests.gateway.attachments.documents import changed
from tests.gateway.attachments.kinds.readings import read

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def made(write: Callable[[Any], object]) -> bytes:
    document = docx.Document()
    write(document)
    held = io.BytesIO()
    document.save(held)
    return held.getvalue()


def with_body(body: str) -> bytes:
    text = f'<w:document xmlns:w="{_W}" xmlns:mc="{_MC}"><w:body>{body}</w:body></w:document>'
    return changed(made(lambda _: None), {"word/document.xml": text.encode()})


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def test_headings_lists_headers_footers_and_comments() -> None:
    def write(document: Any) -> None:
        document.add_heading("a", 2)
        document.add_paragraph("b", style="List Bullet")
        document.add_paragraph("c")
        document.add_comment(document.paragraphs[-1].runs, text="d", author="e")
        document.sections[0].header.paragraphs[0].text = "f"
        document.sections[0].footer.paragraphs[0].text = "g"

    text = read(made(write), "a.docx")
    assert text.startswith("## a\n\n- b\n\nc")
    assert "Comments:\n[0, e] d" in text
    assert "Footer:\ng" in text
    assert "Header:\nf" in text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p>{run('a')}<w:r><w:tab/><w:br/></w:r>{run('b')}</w:p>", "a\t\nb"),
        (f"<w:p><w:sdt><w:sdtContent>{run('a')}</w:sdtContent></w:sdt></w:p>", "a"),
        (f"<w:sdt><w:sdtContent><w:p>{run('a')}</w:p></w:sdtContent></w:sdt>", "a"),
        (f"<w:p><w:ins>{run('a')}</w:ins></w:p>", "a"),
        (f"<w:p><w:r><w:pict><w:txbxContent><w:p>{run('a')}</w:p></w:txbxContent></w:pict></w:r></w:p>", "a"),
        ('<w:p><w:r><w:pict><w:textpath string="a"/></w:pict></w:r></w:p>', "a"),
        ('<w:p><w:r><w:sym w:font="Symbol" w:char="F061"/></w:r></w:p>', "a"),
        (f'<w:p><w:fldSimple w:instr="DATE">{run("a")}</w:fldSimple></w:p>', "a"),
        (f'<w:p><w:r><w:instrText>HYPERLINK "b"</w:instrText></w:r>{run("a")}</w:p>', '("b") a'),
        (
            f"<w:p><w:r><mc:AlternateContent><mc:Choice>{run('a')}</mc:Choice><mc:Fallback>{run('b')}</mc:Fallback>"
            "</mc:AlternateContent></w:r></w:p>",
            "a\nb",
        ),
        (
            f"<w:p><w:r><mc:AlternateContent><mc:Choice>{run('a')}</mc:Choice><mc:Fallback>{run('a')}</mc:Fallback>"
            "</mc:AlternateContent></w:r></w:p>",
            "a",
        ),
        (
            f"<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p>{run('a')}</w:p></w:tc></w:tr>"
            f"<w:tr><w:tc><w:p>{run('b')}</w:p></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p>{run('c')}</w:p></w:tc></w:tr>"
            "</w:tbl></w:tc></w:tr></w:tbl>",
            "| a |  |\n| --- | --- |\n| b | \\| c \\|<br>\\| --- \\| |",
        ),
    ],
)
def test_all_text_of_a_body(body: str, text: str) -> None:
    assert read(with_body(body), "a.docx") == text


@pytest.mark.parametrize(
    "body",
    [
        "<w:p><w:r><w:object/></w:r></w:p>",
        "<w:p><w:r><w:drawing><w:blob>a</w:blob></w:drawing></w:r></w:p>",
        f"<w:tbl><w:new><w:tr><w:tc><w:p>{run('a')}</w:p></w:tc></w:tr></w:new></w:tbl>",
    ],
)
def test_what_cannot_be_read_is_refused(body: str) -> None:
    with pytest.raises(Refused) as refused:
        read(with_body(body), "a.docx")
    assert refused.value.reason in {Reason.EMBEDDED, Reason.UNKNOWN_PART}
