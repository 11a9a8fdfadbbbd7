"""Documents of LibreOffice and others (OpenDocument, ISO/IEC 26300): texts, sheets and slides."""

from collections.abc import Iterator

from gateway.attachments.base import MOST_CHARACTERS, File, Kind, Reason, Refused, Section
from gateway.attachments.markdown import table
from gateway.attachments.packages import Element, Package, attribute, descendants, local, prepare

_TYPE = "application/vnd.oasis.opendocument."
_UNSEEN = frozenset({"mimetype", "meta.xml", "settings.xml", "manifest.rdf", "META-INF/manifest.xml", "layout-cache"})
_ACTIVE = ("basic/", "scripts/", "dialogs/")
_IMAGES = ("pictures/", "objectreplacements/")
# Elements that hold no text that a reader sees.
_SKIPPED = frozenset(
    {"automatic-styles", "styles", "font-face-decls", "scripts", "forms", "sequence-decls", "variable-decls"}
    | {
        "user-field-decls",
        "calculation-settings",
        "content-validations",
        "bibliography-configuration",
        "config-item-set",
    }
)
_PARAGRAPHS = frozenset({"p", "h"})
_MOST_REPEATED, _MOST_CELLS = 4096, 500_000


class _Odf(Kind):
    id = "odf"
    title = "OpenDocument file"
    media_types = frozenset(
        f"{_TYPE}{name}" for name in ("text", "spreadsheet", "presentation", "graphics", "text-template")
    )
    endings = frozenset({"odt", "ods", "odp", "odg", "ott"})

    def prepare(self) -> None:
        prepare()

    def read(self, file: File) -> list[Section]:
        package = Package(file.data)
        if not package.parts.get("mimetype", b"").startswith(_TYPE.encode()):
            raise Refused(Reason.MALFORMED)
        _check_parts(package)
        content = package.xml("content.xml")
        if any(len(each) for each in descendants(content, "scripts", "event-listeners")):
            raise Refused(Reason.ACTIVE)
        body = next(descendants(content, "body"), None)
        if body is None or not len(body):
            raise Refused(Reason.MALFORMED)
        reader = _Reader()
        kind = local(body[0].tag)
        pages = {"spreadsheet": ("table", "Sheet"), "presentation": ("page", "Slide"), "drawing": ("page", "Page")}
        found = reader.pages(body[0], *pages[kind]) if kind in pages else [Section("", reader.text(body[0]))]
        beside = _beside(package, reader)
        return [*found, Section("Headers and footers", beside)] if beside else found


def _check_parts(package: Package) -> None:
    """Raises Refused for a part that is neither text nor unseen."""
    manifest = package.xml("META-INF/manifest.xml")
    if any(True for _ in descendants(manifest, "encryption-data")):
        raise Refused(Reason.ENCRYPTED)
    for name in package.parts:
        low = name.lower()
        if (
            name in _UNSEEN
            or name in {"content.xml", "styles.xml"}
            or low.startswith(("thumbnails/", "configurations2/"))
        ):
            continue
        if low.startswith(_ACTIVE):
            raise Refused(Reason.ACTIVE)
        if low.startswith("meta-inf/"):
            # Signatures.
            continue
        raise Refused(Reason.IMAGE if low.startswith(_IMAGES) else Reason.EMBEDDED)


def _beside(package: Package, reader: "_Reader") -> str:
    """Returns the text of headers, footers and the backgrounds of slides."""
    if "styles.xml" not in package.parts:
        return ""
    masters = descendants(package.xml("styles.xml"), "master-styles")
    return "\n\n".join(text for each in masters if (text := reader.text(each)))


class _Reader:
    """Reads the blocks of a document."""

    def __init__(self) -> None:
        self._cells = 0

    def pages(self, body: Element, wanted: str, title: str) -> list[Section]:
        """Returns the sheets or slides, and what is beside them."""
        found: list[Section] = []
        for number, each in enumerate((one for one in body if local(one.tag) == wanted), 1):
            name = attribute(each, "name") or str(number)
            text = self._table(each) if wanted == "table" else "\n\n".join(self._blocks(each))
            if wanted == "table":
                drawn = [block for one in each if local(one.tag) == "shapes" for block in self._blocks(one)]
                text = "\n\n".join([text, *drawn])
            found.append(Section(f"{title}: {name}" if wanted == "table" else f"{title} {number}", text))
        rest = "\n\n".join(block for one in body if local(one.tag) != wanted for block in self._block(one))
        return [*found, Section("", rest)] if rest.strip() else found

    def text(self, element: Element) -> str:
        return "\n\n".join(self._blocks(element)).strip()

    def _blocks(self, element: Element) -> Iterator[str]:
        if (element.text and element.text.strip()) or any(each.tail and each.tail.strip() for each in element):
            raise Refused(Reason.UNKNOWN_PART)
        for each in element:
            yield from self._block(each)

    def _block(self, element: Element) -> Iterator[str]:
        name = local(element.tag)
        if name in _SKIPPED:
            return
        if name in _PARAGRAPHS:
            text = self._inline(element)
            level = attribute(element, "outline-level") or "1"
            if text.strip():
                yield f"{'#' * min(int(level), 6)} {text}" if name == "h" else text
        elif name == "list-item":
            if text := "\n".join(self._blocks(element)):
                yield f"- {text}"
        elif name == "table":
            yield self._table(element)
        elif name == "deletion":
            yield f"[deleted: {' '.join(self._blocks(element))}]"
        elif name in {"title", "desc", "creator", "date", "date-string", "creator-initials", "sender-initials"}:
            if text := "".join(element.itertext()).strip():
                yield f"[{text}]"
        elif name in {"image", "fill-image"}:
            raise Refused(Reason.IMAGE)
        elif name in {"object", "object-ole", "plugin", "applet", "floating-frame", "binary-data"}:
            raise Refused(Reason.EMBEDDED)
        elif name in {"formula", "math", "label-range", "index-title-template"}:
            raise Refused(Reason.UNKNOWN_PART)
        elif name.endswith("-source") or name in {
            "named-expressions",
            "database-ranges",
            "settings",
            "tracked-changes-table",
        }:
            return
        else:
            yield from self._blocks(element)

    def _inline(self, element: Element) -> str:
        """Returns the text of a paragraph, with the notes and frames in it."""
        pieces = [element.text or ""]
        for each in element:
            name = local(each.tag)
            if name == "s":
                pieces.append(" " * min(int(attribute(each, "c") or 1), _MOST_REPEATED))
            elif name in {"tab", "line-break"}:
                pieces.append("\t" if name == "tab" else "\n")
            elif name == "a":
                pieces += [self._inline(each), f" ({attribute(each, 'href') or ''})"]
            elif name in {"note", "annotation"}:
                pieces.append(f" [{' '.join(self._blocks_of_note(each))}] ")
            elif name in {"frame", "custom-shape", "rect", "line", "g", "text-box"}:
                pieces.append("\n" + "\n".join(self._block(each)) + "\n")
            elif name in {"image", "object", "object-ole"}:
                pieces += self._block(each)
            elif name == "ruby-text":
                pieces.append(f"({self._inline(each)})")
            else:
                pieces.append(self._inline(each))
            pieces.append(each.tail or "")
        return "".join(pieces)

    def _blocks_of_note(self, note: Element) -> Iterator[str]:
        for each in note:
            if local(each.tag) == "note-citation":
                yield "".join(each.itertext())
            else:
                yield from self._block(each)

    def _table(self, element: Element) -> str:
        rows: list[list[str]] = []
        size = 0
        for row in self._inside(element, "table-row"):
            cells: list[str] = []
            for cell in self._inside(row, "table-cell", "covered-table-cell"):
                text = "\n".join(self._blocks(cell))
                times = int(attribute(cell, "number-columns-repeated") or 1)
                # The last cell of a row is repeated to the end of the sheet.
                cells += [text] * self._bounded(times, text)
            while cells and not cells[-1]:
                cells.pop()
            times = int(attribute(row, "number-rows-repeated") or 1)
            if cells:
                size += sum(map(len, cells)) * times
                self._cells += len(cells) * times
                if self._cells > _MOST_CELLS or size > MOST_CHARACTERS or times > _MOST_REPEATED:
                    raise Refused(Reason.TOO_LARGE)
                rows += [cells] * times
        return table(rows)

    def _bounded(self, times: int, text: str) -> int:
        if times > _MOST_REPEATED and text:
            raise Refused(Reason.TOO_LARGE)
        return max(0, min(times, _MOST_REPEATED))

    def _inside(self, element: Element, *wanted: str) -> Iterator[Element]:
        for each in element:
            name = local(each.tag)
            if name in wanted:
                yield each
            elif name in {"table-rows", "table-header-rows", "table-row-group", "table-columns"}:
                yield from self._inside(each, *wanted)
            elif name not in {"shapes", "title", "desc"} and any(True for _ in descendants(each, "p", "h")):
                raise Refused(Reason.UNKNOWN_PART)


KIND = _Odf()
