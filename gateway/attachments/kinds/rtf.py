"""Rich text (RTF 1.9): text with notes, headers, hidden text and fields. Tables are Markdown tables."""

import codecs
import re
from dataclasses import dataclass, replace

from gateway.attachments.base import File, Kind, Reason, Refused, Section
from gateway.attachments.markdown import table

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
# Destinations that hold no text that a reader sees.
_UNSEEN = frozenset(
    """
    fonttbl colortbl stylesheet info generator listtable listoverridetable rsidtbl themedata colorschememapping
    datastore latentstyles xmlnstbl pgptbl mmathPr filetbl revtbl listpicture userprops docvar defchp defpap
    background wgrffmtfilter panose falt bkmkstart bkmkend pnseclvl pntxta pntxtb pn listtext fchars lchars
    ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn
    """.split()
)
# Destinations with text; any other that may be skipped is refused if it has any.
_TEXTS = frozenset(
    """
    header headerl headerr headerf footer footerl footerr footerf footnote annotation atnid atnauthor fldrslt field
    shptxt shp shpinst shprslt do dptxbxtext nonesttables nesttableprops sp sn sv title author xe tc txe
    """.split()
)
_REFUSED = {
    "pict": Reason.IMAGE,
    "shppict": Reason.IMAGE,
    "nonshppict": Reason.IMAGE,
    "object": Reason.EMBEDDED,
    "objdata": Reason.EMBEDDED,
    "objemb": Reason.EMBEDDED,
    "datafield": Reason.EMBEDDED,
    "template": Reason.ACTIVE,
    "bin": Reason.EMBEDDED,
}
_FETCHING = ("DDE", "INCLUDE", "IMPORT", "LINK", "EMBED", "DATABASE", "MACROBUTTON")
_SIGNS = {
    "par": "\n", "line": "\n", "sect": "\n\n", "page": "\n\n", "tab": "\t", "emdash": "—", "endash": "–", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\u00a0", b"_": "-", b"-": "", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n", b"\r": "\n"}
_CHARSETS = {0: 1252, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256,
             186: 1257, 204: 1251, 222: 874, 238: 1250}  # fmt: skip
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class _State:
    """The state that groups inherit: where text goes, its encoding, how many characters follow a Unicode one."""

    place: str = "text"
    page: str = "cp1252"
    fallback: int = 1


class _Rtf(Kind):
    id = "rtf"
    title = "RTF document"
    media_types = frozenset({"application/rtf", "text/rtf", "application/x-rtf", "text/richtext"})
    endings = frozenset({"rtf"})
    codecs = tuple(f"cp{page}" for page in {*_CHARSETS.values(), 437, 850, 1252})

    def read(self, file: File) -> list[Section]:
        if not file.data.startswith(b"{\\rtf1"):
            raise Refused(Reason.MALFORMED)
        return [Section("", _Reader().text(file.data))]


class _Reader:
    """Reads one document."""

    def __init__(self) -> None:
        self._state = _State()
        self._waiting: list[_State] = []
        self._out: list[str] = []
        self._row: list[str] = []
        self._rows: list[list[str]] = []
        self._cell_from = 0
        self._in_table = False
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._skip = 0
        self._bytes = b""
        self._is_optional = False
        self._instruction: list[str] = []
        self._surrogate = ""

    def text(self, data: bytes) -> str:
        place = 0
        end = len(data)
        while place < end:
            found = _TOKEN.match(data, place)
            if found is None:
                raise Refused(Reason.MALFORMED)
            place = found.end()
            word, number, code, symbol, brace, plain = found.groups()
            if code is not None:
                self._byte(bytes([int(code, 16)]))
                continue
            if plain is not None:
                self._plain(plain)
                continue
            if not (word or symbol or brace):
                # A line break of the file is none of the text.
                continue
            self._flush()
            if brace == b"{":
                self._waiting.append(self._state)
                if len(self._waiting) > _DEEPEST:
                    raise Refused(Reason.MALFORMED)
            elif brace == b"}":
                self._close()
                if not self._waiting:
                    break
            elif word is not None:
                self._word(word.decode(), int(number) if number is not None else None)
            elif symbol == b"*":
                self._is_optional = True
                continue
            elif symbol is not None and symbol in _SYMBOLS:
                self._say(_SYMBOLS[symbol])
            self._is_optional = self._is_optional and brace is None and word is None
        if self._waiting or data[place:].strip(b"\x00\r\n\t "):
            raise Refused(Reason.MALFORMED)
        self._end_table()
        return re.sub(r"\n{3,}", "\n\n", "".join(self._out)).strip()

    def _close(self) -> None:
        if not self._waiting:
            raise Refused(Reason.MALFORMED)
        ended, self._state = self._state, self._waiting.pop()
        if ended.place == "instruction" and self._state.place != "instruction":
            said = "".join(self._instruction).strip()
            self._instruction.clear()
            if said.upper().startswith(_FETCHING):
                raise Refused(Reason.ACTIVE)
            if said.upper().startswith("HYPERLINK"):
                self._say(f"({said[9:].strip()}) ")
        elif ended.place == "note" and self._state.place != "note":
            self._say("] ")

    def _word(self, word: str, number: int | None) -> None:
        state, optional = self._state, self._is_optional
        if word in _REFUSED and state.place != "unseen":
            raise Refused(_REFUSED[word])
        if word == "bin":
            raise Refused(Reason.EMBEDDED)
        if word in _UNSEEN:
            self._state = replace(state, place="fonts" if word == "fonttbl" else "unseen")
        elif word == "fldinst":
            self._state = replace(state, place="instruction")
        elif word in {"footnote", "annotation", "header", "headerl", "headerr", "headerf"} or word.startswith("footer"):
            if state.place != "unseen":
                self._say(" [")
                self._state = replace(state, place="note")
        elif optional and word not in _TEXTS:
            self._state = replace(state, place="unknown")
        elif word in {
            "sp",
            "sn",
            "sv",
            "atnid",
            "nesttableprops",
            "atnref",
            "atrfstart",
            "atrfend",
            "atndate",
            "atnicn",
        }:
            self._state = replace(state, place="unseen")
        elif word == "ansicpg" and number is not None:
            self._state = replace(state, page=f"cp{number}")
        elif word in {"mac", "pc", "pca"}:
            pages = {"mac": "mac-roman", "pc": "cp437", "pca": "cp850"}
            self._state = replace(state, page=pages[word])
        elif word == "f" and number is not None:
            self._font = number
            if state.place != "fonts" and number in self._fonts:
                self._state = replace(state, page=self._fonts[number])
        elif word == "fcharset" and state.place == "fonts":
            if number in _CHARSETS:
                self._fonts[self._font] = f"cp{_CHARSETS[number]}"
        elif word == "uc" and number is not None:
            self._state = replace(state, fallback=max(0, min(number, 16)))
        elif word == "u" and number is not None:
            self._unicode(number % 65536)
        elif word in {"cell", "nestcell"}:
            self._cell()
        elif word in {"row", "nestrow"}:
            self._rows.append(self._row)
            self._row, self._in_table = [], False
        elif word == "trowd":
            if not (self._row or self._rows):
                self._cell_from = len(self._out)
            self._in_table = True
        elif word in {"pard", "intbl"}:
            self._in_table = word == "intbl"
        elif word in _SIGNS:
            self._say(_SIGNS[word])

    def _cell(self) -> None:
        """Ends a cell, whose text is all since the one before."""
        self._row.append("".join(self._out[self._cell_from :]).strip())
        del self._out[self._cell_from :]

    def _end_table(self) -> None:
        """Writes the table whose rows have been read, before the text that follows it."""
        if self._row:
            self._rows.append(self._row)
            self._row = []
        if self._rows:
            after = self._out[self._cell_from :]
            del self._out[self._cell_from :]
            self._out += ["\n\n", table(self._rows), "\n\n", *after]
            self._rows = []

    def _unicode(self, unit: int) -> None:
        self._skip = self._state.fallback
        letter = chr(unit)
        if 0xD800 <= unit < 0xDC00:
            self._surrogate = letter
            return
        if self._surrogate and 0xDC00 <= unit < 0xE000:
            letter = (self._surrogate + letter).encode("utf-16", "surrogatepass").decode("utf-16")
        self._surrogate = ""
        self._say(letter)

    def _plain(self, data: bytes) -> None:
        if self._skip:
            dropped = min(self._skip, len(data))
            self._skip -= dropped
            data = data[dropped:]
        self._bytes += data
        if b"\x00" in data:
            raise Refused(Reason.MALFORMED)

    def _byte(self, data: bytes) -> None:
        if self._skip:
            self._skip -= 1
        else:
            self._bytes += data

    def _flush(self) -> None:
        data, self._bytes = self._bytes, b""
        if data:
            try:
                text = codecs.decode(data, self._state.page)
            except (LookupError, UnicodeError):
                if self._state.place in {"unseen", "fonts"}:
                    return
                raise Refused(Reason.ENCODING) from None
            self._say(text)
        self._skip = 0

    def _say(self, text: str) -> None:
        place = self._state.place
        if place == "instruction":
            self._instruction.append(text)
        elif place == "unknown" and text.strip():
            raise Refused(Reason.UNKNOWN_PART)
        elif place in {"text", "note"}:
            if text.strip() and self._rows and not self._row and not self._in_table:
                self._end_table()
            self._out.append(text)


KIND = _Rtf()
