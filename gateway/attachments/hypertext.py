"""Reads the text of HTML, hidden text, comments and descriptions included. Tables become Markdown.

A page with scripts, frames, plug-ins or images inside it is refused: what a reader would see is not all in its text.
An image elsewhere is no part of the file; its description and address are.
"""

import re
from html.parser import HTMLParser

from gateway.attachments.base import Reason, Refused
from gateway.attachments.markdown import table

_ACTIVE = frozenset({"script", "applet", "portal"})
_FILES = frozenset({"iframe", "frame", "object", "embed", "audio", "video", "source", "track", "canvas"})
_BLOCKS = frozenset(
    """
    address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol optgroup option p pre search section select summary
    table tbody td template textarea tfoot th thead title tr ul
    """.split()
)
_VOID = frozenset("area base br col hr img input link meta param wbr".split())
_SAID = (
    "alt",
    "title",
    "placeholder",
    "aria-label",
    "aria-description",
    "summary",
    "label",
    "value",
    "content",
    "cite",
)
_BLANKS = re.compile(r"[ \t\n\f]+")
# A space that is kept as it is, in text that is laid out. No text has this character.
_KEPT = "\0"
_SPACED = re.compile(r" *\n *")
_LINES = re.compile(r"\n{3,}")
# A style sheet that adds text, or shows an image that is in it.
_SHOWN_BY_STYLE = re.compile(r"content\s*:\s*[^;}]*[\"'][^\"']*\w|data\s*:", re.IGNORECASE)
_ESCAPES = re.compile(r"\\[0-9a-f]{1,6}\s?|\\", re.IGNORECASE)
_DEEPEST, _WIDEST = 400, 100


class _Table:
    """A table that is open: its rows, and the pieces of the cell that is open, if any."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.cell: list[str] | None = None

    def end_cell(self) -> None:
        if self.cell is not None:
            self.rows[-1].append(_tidy(self.cell))
            self.cell = None


class _Page(HTMLParser):
    """Collects the text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._tables: list[_Table] = []
        self._open: list[str] = []
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        _check(tag, given)
        if tag not in _VOID:
            self._open.append(tag)
            if len(self._open) > _DEEPEST:
                raise Refused(Reason.MALFORMED)
        if tag == "table":
            self._tables.append(_Table())
        elif tag in {"tr", "td", "th"} and self._tables:
            self._begin_cell(tag, given.get("colspan", ""))
        else:
            self._begin(tag)
        said = [given[name].strip() for name in _SAID if given.get(name, "").strip()]
        if tag == "meta" and given.get("name", "").lower() not in {"description", "author", "keywords"}:
            said = []
        if tag == "img" and given.get("src"):
            said.append(given["src"])
        if said:
            self._say(f" [{'; '.join(dict.fromkeys(said))}] ")
        if tag == "a":
            self._links.append(given.get("href", "").strip())

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            return
        while self._open.pop() != tag:
            pass
        if tag in {"td", "th"} and self._tables:
            self._tables[-1].end_cell()
        elif tag == "table" and self._tables:
            ended = self._tables.pop()
            ended.end_cell()
            self._say(f"\n\n{table([row for row in ended.rows if row])}\n\n", exact=True)
        elif tag == "a" and self._links:
            address = self._links.pop()
            if address and not address.startswith("#"):
                self._say(f" ({address})")
        elif tag in _BLOCKS:
            self._say("\n\n" if tag not in {"li", "dt", "dd", "option"} else "\n", exact=True)

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "style":
            if _SHOWN_BY_STYLE.search(_ESCAPES.sub("x", data)):
                raise Refused(Reason.UNKNOWN_PART)
        elif "pre" in self._open or "textarea" in self._open:
            self._say(data.replace(" ", _KEPT), exact=True)
        else:
            self._say(data)

    def handle_comment(self, data: str) -> None:
        if data.strip():
            self._say(f" [{data.strip()}] ")

    def unknown_decl(self, data: str) -> None:
        self._say(f" [{data.strip()}] ")

    def handle_pi(self, data: str) -> None:
        if not data.startswith("xml"):
            self._say(f" [{data.strip()}] ")

    def text(self) -> str:
        while self._tables:
            self._open.append("table")
            self.handle_endtag("table")
        return _tidy(self._pieces)

    def _begin_cell(self, tag: str, span: str) -> None:
        """Begins a row or a cell of the innermost table."""
        inner = self._tables[-1]
        inner.end_cell()
        if tag == "tr" or not inner.rows:
            inner.rows.append([])
        if tag != "tr":
            inner.cell = []
            if span.isascii() and span.isdecimal():
                inner.rows[-1] += [""] * (min(int(span[:4]), _WIDEST) - 1)

    def _begin(self, tag: str) -> None:
        if tag in {"br", "hr"}:
            self._say("\n", exact=True)
        elif tag == "li":
            self._say("\n- ", exact=True)
        elif re.fullmatch("h[1-6]", tag):
            self._say(f"\n\n{'#' * int(tag[1])} ", exact=True)
        elif tag in _BLOCKS:
            self._say("\n\n" if tag not in {"dt", "dd", "option"} else "\n", exact=True)

    def _say(self, text: str, *, exact: bool = False) -> None:
        pieces = next((each.cell for each in reversed(self._tables) if each.cell is not None), self._pieces)
        pieces.append(text if exact else _BLANKS.sub(" ", text))


def _tidy(pieces: list[str]) -> str:
    return _LINES.sub("\n\n", _SPACED.sub("\n", "".join(pieces))).strip().replace(_KEPT, " ")


def _check(tag: str, given: dict[str, str]) -> None:
    """Raises Refused for an element whose content is no text."""
    if tag in _ACTIVE or any(name.startswith("on") for name in given):
        raise Refused(Reason.ACTIVE)
    if tag in _FILES:
        raise Refused(Reason.EMBEDDED)
    if tag in {"svg", "math"} or given.get("src", "").lstrip().lower().startswith("data:"):
        raise Refused(Reason.IMAGE)
    if _SHOWN_BY_STYLE.search(_ESCAPES.sub("x", given.get("style", ""))) or given.get("srcdoc"):
        raise Refused(Reason.UNKNOWN_PART)
    if tag == "base" or given.get("href", "").lstrip().lower().startswith(("data:", "javascript:")):
        raise Refused(Reason.ACTIVE)


def text_of(page: str) -> str:
    """Returns the text of a page. Raises Refused."""
    parser = _Page()
    parser.feed(page)
    parser.close()
    return parser.text()
