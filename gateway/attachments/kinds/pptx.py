"""Presentations of PowerPoint: each slide with its notes and comments, hidden ones too. Tables are Markdown tables."""

from collections.abc import Iterator

from gateway.attachments.base import File, Kind, Reason, Refused, Section
from gateway.attachments.ooxml import (
    Links,
    check_all_read,
    descriptions,
    document,
    drawn_paragraphs,
    drawn_table,
    short,
)
from gateway.attachments.packages import Element, Package, attribute, descendants, local, prepare

_TEXTS = frozenset({"slide", "slideLayout", "slideMaster", "notesSlide", "notesMaster", "handoutMaster", "comments"})
_READ = frozenset({"t", "text"})
_SKIPPED = frozenset({"sldNum", "sldImg"})


class _Pptx(Kind):
    id = "pptx"
    title = "PowerPoint presentation"
    media_types = frozenset({"application/vnd.openxmlformats-officedocument.presentationml.presentation"})
    endings = frozenset({"pptx"})

    def prepare(self) -> None:
        prepare()

    def read(self, file: File) -> list[Section]:
        package, types, main = document(file.data, _TEXTS, "presentation.main")
        links = Links(package, main)
        order = [links.parts[attribute(each, "id") or ""] for each in _slides(package.xml(main))]
        slides = [name for name, kind in types.items() if short(kind) == "slide"]
        # A slide that is in the file and not in the presentation was deleted, but may be shown by a program.
        order += sorted(set(slides) - set(order))
        seen = set[str]()
        return [self._slide(package, name, number, seen) for number, name in enumerate(order, 1)]

    def _slide(self, package: Package, name: str, number: int, seen: set[str]) -> Section:
        root, links = package.xml(name), Links(package, name)
        check_all_read(root, _READ)
        texts = [*_shapes(root, links)]
        for layout in links.of("slideLayout"):
            texts += _common(package, layout, seen)
            for master in Links(package, layout).of("slideMaster"):
                texts += _common(package, master, seen)
        for notes in links.of("notesSlide"):
            notes_root = package.xml(notes)
            check_all_read(notes_root, _READ)
            said = [*_shapes(notes_root, Links(package, notes))]
            texts += ["Notes:", *said] if said else []
        for comments in links.of("comments"):
            said = [
                drawn_paragraphs(each) or "".join(each.itertext()) for each in descendants(package.xml(comments), "cm")
            ]
            texts += ["Comments:", *said]
        hidden = ", hidden" if attribute(root, "show") in {"0", "false"} else ""
        return Section(f"Slide {number}{hidden}", "\n\n".join(texts))


def _slides(root: Element) -> Iterator[Element]:
    """Yields the entries of the list of slides, whose `r:id` is the relationship."""
    for each in descendants(root, "sldId"):
        by_name = {key: value for key, value in each.attrib.items() if key.startswith("{")}
        yield Element("slide", {"id": next(iter(by_name.values()), "")})


def _common(package: Package, name: str, seen: set[str]) -> list[str]:
    """Returns what all slides of a layout or master show, once. The text of an empty placeholder is no content."""
    if name in seen:
        return []
    seen.add(name)
    root = package.xml(name)
    check_all_read(root, _READ)
    return [*_shapes(root, Links(package, name), common=True)]


def _shapes(root: Element, links: Links, *, common: bool = False) -> Iterator[str]:
    for shape in root.iter():
        kind = local(shape.tag) if isinstance(shape.tag, str) else ""
        if kind in {"sp", "cxnSp"}:
            holder = next(descendants(shape, "ph"), None)
            if holder is not None and (common or attribute(holder, "type") in _SKIPPED):
                continue
            bodies = [*descendants(shape, "txBody")]
            texts = [drawn_paragraphs(body) for body in bodies]
            yield from (text for text in [*texts, *_links(shape, links), *descriptions(shape)] if text)
        elif kind == "graphicFrame":
            found = [drawn_table(each) for each in descendants(shape, "tbl")]
            if not found:
                raise Refused(Reason.EMBEDDED)
            yield from [*found, *_links(shape, links), *descriptions(shape)]
        elif kind in {"pic", "contentPart", "oleObj", "videoFile", "audioFile"}:
            raise Refused(Reason.IMAGE if kind == "pic" else Reason.EMBEDDED)


def _links(shape: Element, links: Links) -> list[str]:
    """Returns the addresses that a shape links to."""
    ids = [value for each in descendants(shape, "hlinkClick", "hlinkHover") for value in each.attrib.values()]
    return [f"({links.addresses[id]})" for id in dict.fromkeys(ids) if id in links.addresses]


KIND = _Pptx()
