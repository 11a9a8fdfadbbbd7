"""Reads the parts and drawings that documents of Word, Excel and PowerPoint (ECMA-376) have in common.

Each part has a content type. One that is known is text, or nothing that a reader sees (styles, settings, metadata), or
the reason for which the document is refused; so is any that is unknown.
"""

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from gateway.attachments.base import Reason, Refused
from gateway.attachments.markdown import table
from gateway.attachments.packages import Element, Package, attribute, descendants, local

_PREFIXES = (
    "application/vnd.openxmlformats-officedocument.",
    "application/vnd.openxmlformats-package.",
    "application/vnd.ms-",
)
# By the end of a content type, without `+xml`: what is no text that a reader sees.
_UNSEEN = frozenset(
    """
    relationships core-properties extended-properties custom-properties theme themeOverride styles stylesWithEffects
    settings webSettings fontTable numbering customXmlProperties calcChain sheetMetadata tableStyles presProps
    viewProps commentsExtended commentsIds commentsExtensible people connections tags printerSettings obfuscatedFont
    volatileDependencies changesInfo revisionInfo authors commentAuthors person handoutMaster rdrichvalue
    rdrichvaluestructure rdRichValueTypes table presentation.main queryTable
    """.split()
)
_ACTIVE = ("macro", "vba", "activex", "controlproperties", "ctrlprops", "externallink", "ddelink", "webextension")
_EMBEDDED = ("oleobject", "package", "embed", "afchunk", "htm", "rtf", "pdf", "media", "audio", "video")
_IMAGE = ("image/", "diagram", "chart", "ink", "slicer")
_THUMBNAIL = "docProps/thumbnail."
# Elements whose text is measures or names of styles, which no reader sees.
_MEASURES = frozenset(
    """
    posOffset align pctWidth pctHeight pctPosHOffset pctPosVOffset rPr pPr attrName tableStyleId Anchor ClientData
    """.split()
)


class Document(NamedTuple):
    """A document whose parts are known: the content type of each, and the name of the main one."""

    package: Package
    types: dict[str, str]
    main: str


def document(data: bytes, texts: frozenset[str], main: str) -> Document:
    """Opens a document. Raises Refused unless it has one main part, and others that are text or unseen."""
    package = Package(data)
    types = _content_types(package)
    _check_parts(types, texts)
    mains = [name for name, kind in types.items() if short(kind) == main]
    if len(mains) != 1:
        raise Refused(Reason.MALFORMED)
    return Document(package, types, mains[0])


def _content_types(package: Package) -> dict[str, str]:
    """Returns the content type of each part. Raises Refused if one has none."""
    root = package.xml("[Content_Types].xml")
    by_ending = {
        (attribute(each, "Extension") or "").lower(): attribute(each, "ContentType") or ""
        for each in descendants(root, "Default")
    }
    by_name = {
        (attribute(each, "PartName") or "").lstrip("/").lower(): attribute(each, "ContentType") or ""
        for each in descendants(root, "Override")
    }
    found: dict[str, str] = {}
    for name in package.parts:
        if name != "[Content_Types].xml":
            ending = name.rpartition(".")[2].lower()
            kind = by_name.get(name.lower()) or by_ending.get(ending)
            if kind is None:
                raise Refused(Reason.UNKNOWN_PART)
            found[name] = kind
    return found


def _check_parts(types: dict[str, str], texts: frozenset[str]) -> None:
    """Raises Refused for a part that is neither one of `texts`, by the end of its content type, nor unseen."""
    for name, kind in types.items():
        end = short(kind)
        if end in texts or end in _UNSEEN or name.startswith(_THUMBNAIL) or _is_custom_data(name, kind):
            continue
        low = kind.lower()
        if any(each in low for each in _ACTIVE) or name.lower().endswith("vbaproject.bin"):
            raise Refused(Reason.ACTIVE)
        if any(each in low for each in _IMAGE):
            raise Refused(Reason.IMAGE)
        if any(each in low for each in _EMBEDDED) or "/embeddings/" in name.lower():
            raise Refused(Reason.EMBEDDED)
        raise Refused(Reason.UNKNOWN_PART)


def short(kind: str) -> str:
    """Returns the end of a content type, by which parts are known: `document.main`, `worksheet`."""
    for prefix in _PREFIXES:
        if kind.startswith(prefix):
            kind = kind.removeprefix(prefix)
            return (
                kind.removesuffix("+xml")
                .removeprefix("wordprocessingml.")
                .removeprefix("spreadsheetml.")
                .removeprefix("presentationml.")
                .removeprefix("excel.")
                .removeprefix("powerpoint.")
                .removeprefix("word.")
            )
    return kind


def _is_custom_data(name: str, kind: str) -> bool:
    """Whether a part is data that a document is filled from: no reader sees it, but what it is filled with."""
    return name.startswith("customXml/") and kind == "application/xml"


class Links:
    """The relationships of a part: by id, the part or the address that it refers to."""

    def __init__(self, package: Package, name: str) -> None:
        folder, _, file = name.rpartition("/")
        place = f"{folder}/_rels/{file}.rels".lstrip("/")
        self.parts: dict[str, str] = {}
        self.addresses: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        if place not in package.parts:
            return
        for each in descendants(package.xml(place), "Relationship"):
            id, target = attribute(each, "Id") or "", attribute(each, "Target") or ""
            self.kinds[id] = (attribute(each, "Type") or "").rpartition("/")[2]
            if attribute(each, "TargetMode") != "External":
                path = target if target.startswith("/") else f"{folder}/{target}"
                self.parts[id] = posixpath.normpath(path).lstrip("/")
            elif self.kinds[id] == "hyperlink":
                self.addresses[id] = target
            else:
                # A template, a picture or data from elsewhere.
                raise Refused(Reason.ACTIVE if self.kinds[id] == "attachedTemplate" else Reason.EMBEDDED)

    def of(self, kind: str) -> Iterator[str]:
        """Yields the parts to which there is a relationship of a kind."""
        return (part for id, part in self.parts.items() if self.kinds[id] == kind)


def check_all_read(root: Element, read: frozenset[str]) -> None:
    """Raises Refused if an element has text, and is neither one of `read` nor a measure."""
    for each in root.iter():
        if not isinstance(each.tag, str) or local(each.tag) in read or local(each.tag) in _MEASURES:
            continue
        if (each.text and each.text.strip()) or any(inner.tail and inner.tail.strip() for inner in each):
            raise Refused(Reason.UNKNOWN_PART)


def drawn_paragraphs(body: Element) -> str:
    """Returns the text of the paragraphs of a drawing (DrawingML)."""
    lines = []
    for paragraph in descendants(body, "p"):
        pieces = []
        for each in paragraph.iter():
            name = local(each.tag)
            if name == "t":
                pieces.append(each.text or "")
            elif name in {"br", "tab"}:
                pieces.append("\n" if name == "br" else "\t")
        lines.append("".join(pieces))
    return "\n".join(lines).strip()


def drawn_table(element: Element) -> str:
    """Returns a table of a drawing as Markdown."""
    rows = [[drawn_paragraphs(cell) for cell in row if local(cell.tag) == "tc"] for row in descendants(element, "tr")]
    return table(rows)


def descriptions(element: Element) -> Iterator[str]:
    """Yields the titles and descriptions that authors gave to pictures and shapes."""
    for each in descendants(element, "cNvPr", "docPr"):
        yield from (said for name in ("title", "descr") if (said := (attribute(each, name) or "").strip()))
