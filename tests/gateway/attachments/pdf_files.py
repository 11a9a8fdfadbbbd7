"""Makes PDF files by hand, so that tests can put anything into them."""

from collections.abc import Sequence

type Line = tuple[float, float, str]
"""Where a line of text is on its page, and the text."""

_RANGES = [f"<{high:02x}00> <{high:02x}ff> <{high:02x}00>" for high in range(256)]
_TO_UNICODE = "\n".join(
    [
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Same def /CMapType 2 def",
        "1 begincodespacerange <0000> <ffff> endcodespacerange",
        *(line for at in range(0, 256, 64) for line in ("64 beginbfrange", *_RANGES[at : at + 64], "endbfrange")),
        "endcmap end end",
    ]
)
"""Each code is the character's own."""


def stream(content: bytes, entries: str = "") -> bytes:
    return f"<< {entries} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def assembled(objects: Sequence[bytes], trailer: str = "") -> bytes:
    """Returns a file with these objects, of which the first is the catalog."""
    out = b"%PDF-1.7\n"
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + each + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    return out + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()


def drawn(lines: Sequence[Line], *, mode: int = 0, colour: str = "0 g") -> bytes:
    """Returns the content of a page with lines of text. Mode 3 draws nothing."""
    said = "".join(
        f"BT {colour} {mode} Tr /F1 11 Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET\n" for x, y, text in lines
    )
    return said.encode()


def pdf(
    pages: Sequence[Sequence[Line] | bytes],
    *,
    catalog: str = "",
    page: str = "",
    more: Sequence[bytes] = (),
    resources: str = "",
    trailer: str = "",
    to_unicode: bool = True,
) -> bytes:
    """Returns a file with pages of lines, or of content. `more` are objects from number 10 on."""
    own = len(pages)
    first = 10 + len(more)
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(own))
    mapped = "/ToUnicode 5 0 R" if to_unicode else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count {own} >>".encode(),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Helvetica /Encoding /Identity-H /DescendantFonts [4 0 R] "
        + f"{mapped} >>".encode(),
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Helvetica /CIDSystemInfo "
        b"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 500 /FontDescriptor 6 0 R >>",
        stream(_TO_UNICODE.encode()),
        b"<< /Type /FontDescriptor /FontName /Helvetica /Flags 32 /FontBBox [0 -200 1000 900] /ItalicAngle 0 "
        b"/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
        *[b"null"] * 3,
        *more,
    ]
    for at, each in enumerate(pages):
        content = each if isinstance(each, bytes) else drawn(each)
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> {resources} >> "
            f"/Contents {first + 2 * at + 1} 0 R {page} >>".encode(),
            stream(content),
        ]
    return assembled(objects, trailer)
