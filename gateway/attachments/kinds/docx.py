"""Documents of Word: text in order, with headers, footers, notes and comments, changes that are not accepted yet, text
boxes and hidden text. Tables are Markdown tables, headings and items of lists are marked as such.
"""

from collections.abc import Iterator

from gateway.attachments.base import File, Kind, Reason, Refused, Section
from gateway.attachments.markdown import table
from gateway.attachments.ooxml import Links, check_all_read, document, short
from gateway.attachments.packages import Element, Package, attribute, descendants, local, prepare

_MAIN = "document.main"
_NOTES = {
    "header": "Header",
    "footer": "Footer",
    "footnotes": "Footnotes",
    "endnotes": "Endnotes",
    "comments": "Comments",
}
_TEXTS = frozenset({_MAIN, "document.glossary", *_NOTES})
_READ = frozenset({"t", "delText", "instrText", "delInstrText"})
_BREAKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
# Fields that fetch or run something.
_FETCHING = ("DDE", "INCLUDE", "IMPORT", "LINK", "EMBED", "DATABASE", "MACROBUTTON", "RD ")


class _Docx(Kind):
    id = "docx"
    title = "Word document"
    media_types = frozenset({"application/vnd.openxmlformats-officedocument.wordprocessingml.document"})
    endings = frozenset({"docx"})

    def prepare(self) -> None:
        prepare()

    def read(self, file: File) -> list[Section]:
        package, types, main = document(file.data, _TEXTS, _MAIN)
        texts = [(name, short(kind)) for name, kind in types.items() if short(kind) in _TEXTS]
        read = {name: _Part(package, name).text() for name, _ in texts}
        found = [read[main]]
        for name, kind in sorted(texts, key=lambda each: each[1]):
            if name != main and read[name] and read[name] not in found:
                found.append(f"{_NOTES.get(kind, 'Building blocks')}:\n{read[name]}")
        return [Section("", "\n\n".join(found))]


class _Part:
    """Reads one part with text."""

    def __init__(self, package: Package, name: str) -> None:
        self._links = Links(package, name)
        self._root = package.xml(name)
        check_all_read(self._root, _READ)

    def text(self) -> str:
        return "\n\n".join(self._blocks(self._root)).strip()

    def _blocks(self, element: Element) -> Iterator[str]:
        """Yields the paragraphs and tables inside an element."""
        for each in element:
            name = local(each.tag)
            if name == "p":
                if text := self._paragraph(each):
                    yield text
            elif name == "tbl":
                yield self._table(each)
            elif name == "altChunk":
                raise Refused(Reason.EMBEDDED)
            elif name == "AlternateContent":
                yield self._either(each)
            elif name in {"footnote", "endnote", "comment"}:
                if text := "\n".join(self._blocks(each)).strip():
                    said = attribute(each, "author")
                    yield f"[{attribute(each, 'id')}{f', {said}' if said else ''}] {text}"
            else:
                yield from self._blocks(each)

    def _paragraph(self, element: Element) -> str:
        text = self._inline(element).strip("\n")
        style = next((attribute(each, "val") or "" for each in descendants(element, "pStyle")), "")
        if not text.strip():
            return ""
        if style.startswith("Heading") and style[7:8].isdecimal():
            return f"{'#' * int(style[7])} {text}"
        is_item = any(True for _ in descendants(element, "numPr")) or style.startswith("List")
        return f"- {text}" if is_item else text

    def _inline(self, element: Element) -> str:
        """Returns the text inside a paragraph."""
        pieces: list[str] = []
        for each in element:
            name = local(each.tag)
            if name == "t":
                pieces.append(each.text or "")
            elif name == "delText":
                pieces.append(f"[deleted: {each.text or ''}]")
            elif name in {"instrText", "delInstrText"}:
                pieces.append(_instruction(each.text or ""))
            elif name == "fldSimple":
                pieces += [_instruction(attribute(each, "instr") or ""), self._inline(each)]
            elif name in _BREAKS:
                pieces.append(_BREAKS[name])
            elif name == "sym":
                pieces.append(_symbol(each))
            elif name in {"footnoteReference", "endnoteReference", "commentReference"}:
                pieces.append(f"[{attribute(each, 'id')}]")
            elif name == "hyperlink":
                address = self._links.addresses.get(attribute(each, "id") or "", "")
                pieces += [self._inline(each), f" ({address})" if address else ""]
            elif name == "AlternateContent":
                pieces.append(self._either(each))
            elif name in {"txbxContent", "tbl"}:
                pieces.append("\n" + "\n".join(self._blocks(each) if name != "tbl" else [self._table(each)]) + "\n")
            elif name == "docPr":
                pieces += [f" [{said}] " for said in descriptions_of(each)]
            elif name == "textpath":
                pieces.append(attribute(each, "string") or "")
            elif name in {"object", "OLEObject", "control", "subDoc"}:
                raise Refused(Reason.EMBEDDED)
            elif name == "oMath" or name not in {"rPr", "pPr"}:
                pieces.append(self._inline(each))
        return "".join(pieces)

    def _either(self, element: Element) -> str:
        """Returns the texts of all variants of which a program shows one, each once."""
        texts = [self._inline(each).strip() or "\n\n".join(self._blocks(each)) for each in element]
        return "\n".join(dict.fromkeys(text for text in texts if text))

    def _table(self, element: Element) -> str:
        rows = []
        for row in self._inside(element, "tr"):
            cells: list[str] = []
            for one in self._inside(row, "tc"):
                cells.append("\n".join(self._blocks(one)))
                span = next((attribute(each, "val") or "" for each in descendants(one, "gridSpan")), "")
                cells += [""] * (min(int(span), 100) - 1 if span.isdecimal() else 0)
            rows.append(cells)
        # Anything beside the rows and cells would be lost.
        return table(rows)

    def _inside(self, element: Element, wanted: str) -> Iterator[Element]:
        """Yields the rows or cells in an element, also those that were inserted or are bound to data."""
        for each in element:
            name = local(each.tag)
            if name == wanted:
                yield each
            elif name in {"sdt", "sdtContent", "customXml", "ins", "del", "moveTo", "moveFrom", "smartTag"}:
                yield from self._inside(each, wanted)
            elif any(True for _ in descendants(each, *_READ)):
                raise Refused(Reason.UNKNOWN_PART)


def descriptions_of(shape: Element) -> Iterator[str]:
    """Yields the title and the description of a shape."""
    return (said for name in ("title", "descr") if (said := (attribute(shape, name) or "").strip()))


def _instruction(text: str) -> str:
    """Returns the address in a field that is a link. Raises Refused for a field that fetches or runs something."""
    said = text.strip()
    if said.upper().startswith(_FETCHING):
        raise Refused(Reason.ACTIVE)
    return f"({said[9:].strip()}) " if said.upper().startswith("HYPERLINK") else ""


def _symbol(element: Element) -> str:
    """Returns a character of a symbol font, whose codes are its own."""
    code = int(attribute(element, "char") or "0", 16)
    return chr(code - 0xF000 if 0xF020 <= code <= 0xF0FF else code)


KIND = _Docx()
