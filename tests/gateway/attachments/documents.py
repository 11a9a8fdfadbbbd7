"""Makes a document of each kind in each of eight languages: a title, two paragraphs with private values, a table."""

import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from xml.sax.saxutils import escape

import docx
import openpyxl
import pptx
from pptx.util import Inches

from tests.gateway.attachments.pdf_files import pdf

IBAN = "DE89 3704 0044 0532 0130 00"


@dataclass(frozen=True)
class Said:
    """The texts of the documents in one language. Each private value is in a paragraph or in the table."""

    title: str
    first: str
    second: str
    head: tuple[str, str]
    private: tuple[str, ...]

    @property
    def rows(self) -> list[list[str]]:
        return [[*self.head], [self.private[2], "12"], [self.private[3], "34"]]


def _said(title: str, first: str, second: str, head: str, name: str) -> Said:
    values = (f"{name}@acme.test", IBAN, f"{name}.a@acme.test", f"{name}.b@acme.test")
    one, two = head.split()
    return Said(title, f"{first} {values[0]}.", f"{second} {IBAN}.", (one, two), values)


LANGUAGES = {
    "de": _said("Übersicht der Verträge", "Bitte schreiben Sie an", "Überweisen Sie auf", "Kürzel Zahl", "juergen"),
    "en": _said("Summary of contracts", "Please write to", "Please transfer to", "Contact Count", "john"),
    "fr": _said("Résumé des contrats", "Écrivez à", "Veuillez virer à", "Adressé Nombre", "helene"),
    "es": _said("Resumen de año", "Escriba a", "Transfiera a", "Señas Número", "inigo"),
    "pl": _said("Zestawienie umów", "Proszę pisać na", "Proszę wpłacić na", "Łącze Liczba", "wojciech"),
    "ru": _said("Обзор договоров", "Пишите на адрес", "Переведите на счёт", "Адрес Число", "ivan"),
    "el": _said("Σύνοψη συμβάσεων", "Γράψτε στο", "Μεταφορά στο", "Επαφή Αριθμός", "nikos"),
    "zh": _said("合同摘要", "请写信至", "请汇款至", "联系人 数量", "wang"),
}


def text(said: Said) -> bytes:
    rows = "\n".join("\t".join(row) for row in said.rows)
    return f"{said.title}\n\n{said.first}\n\n{said.second}\n\n{rows}\n".encode()


def csv(said: Said) -> bytes:
    rows = [[said.title, ""], [said.first, ""], [said.second, ""], *said.rows]
    return "\ufeff".encode() + "\r\n".join(";".join(row) for row in rows).encode()


def html(said: Said) -> bytes:
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in said.rows)
    body = f"<h1>{said.title}</h1><p>{said.first}</p><p>{said.second}</p><table>{rows}</table>"
    return f"<!DOCTYPE html><html><head><meta charset=utf-8></head><body>{body}</body></html>".encode()


def eml(said: Said) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@acme.test", "b@acme.test", said.title
    message.set_content(f"{said.first}\n\n{said.second}\n")
    message.add_alternative(html(said).decode(), subtype="html")
    return message.as_bytes()


def rtf(said: Said) -> bytes:
    def coded(value: str) -> str:
        units = [value.encode("utf-16-le")[at : at + 2] for at in range(0, 2 * len(value), 2)]
        codes = [int.from_bytes(unit, "little", signed=True) for unit in units]
        return "".join(chr(code) if 32 <= code < 127 else f"\\u{code}?" for code in codes)

    rows = "".join(
        f"\\trowd\\cellx3000\\cellx6000\\pard\\intbl {coded(one)}\\cell {coded(two)}\\cell\\row "
        for one, two in said.rows
    )
    paragraphs = "".join(f"{coded(each)}\\par " for each in (said.title, said.first, said.second))
    return f"{{\\rtf1\\ansi\\uc1{{\\fonttbl{{\\f0 Arial;}}}}\\pard {paragraphs}{rows}\\pard }}".encode()


def word(said: Said) -> bytes:
    made = docx.Document()
    made.add_heading(said.title, 1)
    made.add_paragraph(said.first)
    made.add_paragraph(said.second)
    table = made.add_table(0, 2)
    for row in said.rows:
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = value
    return _saved(made.save)


def excel(said: Said) -> bytes:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.title = "A"
    for row in [[said.title], [said.first], [said.second]]:
        sheet.append(row)
    table = made.create_sheet("B")
    for values in said.rows:
        table.append(values)
    return _saved(made.save)


def powerpoint(said: Said) -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = said.title
    slide.placeholders[1].text = f"{said.first}\n{said.second}"
    table = slide.shapes.add_table(3, 2, Inches(1), Inches(1), Inches(4), Inches(2)).table
    for number, row in enumerate(said.rows):
        for column, value in enumerate(row):
            table.cell(number, column).text = value
    return _saved(made.save)


NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table", "draw")
)


def odf(body: str, kind: str = "text", *, beside: dict[str, bytes] | None = None, manifest: str = "") -> bytes:
    """Returns an OpenDocument file with this body."""
    content = f"<office:document-content {NAMESPACES}><office:body>{body}</office:body></office:document-content>"
    spaces = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(),
            "content.xml": content.encode(),
            "META-INF/manifest.xml": f"<manifest:manifest {spaces}>{manifest}</manifest:manifest>".encode(),
            **(beside or {}),
        }
    )


def odt(said: Said) -> bytes:
    paragraphs = "".join(f"<text:p>{escape(each)}</text:p>" for each in (said.first, said.second))
    heading = f'<text:h text:outline-level="1">{escape(said.title)}</text:h>'
    return odf(f"<office:text>{heading}{paragraphs}{_rows(said.rows)}</office:text>")


def ods(said: Said) -> bytes:
    rows = [[said.title], [said.first], [said.second]]
    return odf(f"<office:spreadsheet>{_rows(rows)}{_rows(said.rows)}</office:spreadsheet>", "spreadsheet")


def _rows(rows: Sequence[Sequence[str]]) -> str:
    def cell(value: str) -> str:
        return f"<table:table-cell><text:p>{escape(value)}</text:p></table:table-cell>"

    made = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    return f'<table:table table:name="T">{made}</table:table>'


def portable(said: Said) -> bytes:
    lines = [(50.0, 800.0, said.title), (50.0, 770.0, said.first)]
    places = enumerate(said.rows)
    table = [(x, 740.0 - 15 * row, value) for row, each in places for x, value in zip((50, 300), each, strict=True)]
    return pdf([[*lines, (50.0, 755.0, said.second)], table])


def zipped(parts: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def changed(document: bytes, parts: dict[str, bytes], *, content_types: str = "") -> bytes:
    """Returns an office document with some parts replaced or added, and entries added to its content types."""
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    held |= parts
    if content_types:
        held["[Content_Types].xml"] = held["[Content_Types].xml"].replace(
            b"</Types>", f"{content_types}</Types>".encode()
        )
    return zipped(held)


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    held = io.BytesIO()
    save(held)
    return held.getvalue()


MAKERS: dict[str, Callable[[Said], bytes]] = {
    "txt": text,
    "csv": csv,
    "html": html,
    "eml": eml,
    "rtf": rtf,
    "docx": word,
    "xlsx": excel,
    "pptx": powerpoint,
    "odt": odt,
    "ods": ods,
    "pdf": portable,
}
TABLES = frozenset(MAKERS) - {"txt", "csv"}
"""The kinds whose tables are written as Markdown."""
