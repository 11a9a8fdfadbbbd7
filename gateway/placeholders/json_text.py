"""Finds the literals of JSON documents inside strings (tool-call arguments), with exact source spans (RFC 8259).

Parses broken documents as far as possible: an unterminated string extends to the end.
"""

import json
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gateway.http.strict_json import is_json

type Piece = tuple[int, int, str]

NUMBER = "\x00"
"""Marks the token of a JSON number in `Known.raw`. No spelling inside a JSON string contains this character."""
SHORTEST_NUMBER = 7

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.+-])-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?(?![\w.])", re.ASCII)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
# The same, and both escapes of a surrogate pair.
_CHARACTER = re.compile(
    r"\\(?:u(?P<high>d[89ab][\da-f]{2})\\u(?P<low>d[c-f][\da-f]{2})|u(?P<code>[\da-f]{4})|(?P<char>.))",
    re.DOTALL | re.ASCII | re.IGNORECASE,
)
# The text between the quotes of a string (RFC 8259, section 7).
_INSIDE = re.compile(r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMERIC = frozenset("-0123456789")
_BLANKS = " \t\n\r\f\v"
_BLANK = re.compile(f"[{_BLANKS}]")
_TO_SIGNS = str.maketrans(_BLANKS, "_" * len(_BLANKS))
# The beginning of a URL. Programs that load it first remove line breaks and tabs (WHATWG URL, section 4.4).
_URL = re.compile(r"https?:|(?:[a-z][a-z0-9+.-]*+:)?[/\\]{2}\S|[\w-]++(?:\.[\w-]++)++(?::\d++)?[/\\?#]", re.IGNORECASE)
_IGNORED = str.maketrans("", "", "\t\n\r")
_URL_KEY = re.compile(r"(?:ur[il]|href|link|src|endpoint|webhook|website)s?\Z", re.IGNORECASE)
_KEY_ENDS = re.compile(r"[ \t\n\r]*:")
# Characters that a URL may have before it.
_LEADING = "".join(map(chr, range(33)))
# A word in the form of a placeholder, in the place of a value and without quotes.
_UNQUOTED = re.compile(r"[:,\[][ \t\r\n]*+(\[[A-Z][A-Z0-9_]{6,90}\])(?=[ \t\r\n]*+[,}\]])")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Literal:
    """`document[start:end]`, quotes included for a string. `value` is decoded; numbers keep their spelling.

    `breaks` are pairs of a decoded and a raw offset. From each pair to the next, the offsets advance together.
    """

    start: int
    end: int
    value: str = field(repr=False)
    breaks: tuple[tuple[int, int], ...] = field(repr=False)

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the span in the document that spells `value[start:end]`."""
        return self._raw(start), self._raw(end)

    def _raw(self, offset: int) -> int:
        at, raw = self.breaks[bisect_right(self.breaks, (offset, 1 << 62)) - 1]
        return raw + offset - at


def string_literals(document: str) -> list[Literal]:
    """Returns every string of a JSON text, including keys. An unterminated one extends to the end."""
    found = []
    for match in _STRING.finditer(document):
        closed = len(match[0]) > 1 and match[0].endswith('"')
        raw = match[0][1:-1] if closed else match[0][1:]
        value, breaks = _decode(raw, match.start() + 1)
        found.append(Literal(match.start(), match.end(), value, breaks))
    return found


def keyed_literals(document: str) -> Iterator[tuple[str | None, Literal]]:
    """Yields every string of a JSON text with its key, or that of the list it is in; keys with None."""
    key: str | None = None
    for literal in string_literals(document):
        if _KEY_ENDS.match(document, literal.end):
            key = literal.value
            yield None, literal
        else:
            yield key, literal


def number_literals(document: str) -> list[Literal]:
    """Returns every number of a JSON text with at least `SHORTEST_NUMBER` digits, enough for an identifier."""
    found: list[Literal] = []
    position = 0
    for start, end in [*(match.span() for match in _STRING.finditer(document)), (len(document), len(document))]:
        found += (
            Literal(*match.span(), match[0], ((0, match.start()),))
            for match in _NUMBER.finditer(document, position, start)
            if sum(map(str.isdigit, match[0])) >= SHORTEST_NUMBER
        )
        position = end
    return found


def number_at(document: str, position: int) -> Literal | None:
    """Returns the number that starts at `position`, of any length."""
    match = _NUMBER.match(document, position)
    return Literal(*match.span(), match[0], ((0, match.start()),)) if match else None


def unquoted(document: str) -> Iterator[Piece]:
    """Yields words in the form of placeholders in the place of values. A document is invalid with them."""
    found = [(*match.span(1), match[1]) for match in _UNQUOTED.finditer(document)]
    strings = [match.span() for match in _STRING.finditer(document)] if found else []
    starts = [start for start, _ in strings]
    for start, end, text in found:
        at = bisect_right(starts, start) - 1
        if at < 0 or strings[at][1] <= start:
            yield start, end, text


def as_literal(value: str) -> str:
    """Returns a value as JSON: as a number if it is spelled like one, else as a string."""
    return value if value[:1] in _NUMERIC and is_json(value) else f'"{escape_json(value)}"'


def escape_json(value: str) -> str:
    """Returns the value as written between the quotes of a JSON string, with only the necessary escapes."""
    return json.dumps(value, ensure_ascii=False)[1:-1]


def is_document(text: str) -> bool:
    """Returns whether a text is a single JSON object or array, apart from white space."""
    return text.lstrip()[:1] in {"{", "["} and is_json(text.strip())


def with_blanks(document: str) -> str:
    """Returns a document with the white space of its strings in place of the escapes for it, padded to their length.

    Also in the documents in its strings, but in none that may be a URL as a whole, in which a program would ignore
    white space; one whose key says so has none. What is at an offset stays there.
    """
    pieces: list[Piece] = []
    for key, literal in keyed_literals(document):
        raw = document[literal.start : literal.end]
        if is_url(key, literal.value):
            pieces.append((literal.start, literal.end, without_blanks(raw)))
            continue
        if "\\" not in raw or _may_be_url(literal.value):
            continue
        if not is_document(literal.value):
            pieces.append((literal.start, literal.end, _ESCAPE.sub(_padded, raw)))
            continue
        value = with_blanks(literal.value)
        for blank in _BLANK.finditer(value):
            if literal.value[blank.start()] != " ":
                start, end = literal.raw_span(*blank.span())
                pieces.append((start, end, _as_blank(blank[0], end - start)))
    return splice(document, pieces)


def is_url(key: str | None, value: str) -> bool:
    """Returns whether a string under a key is a URL as a whole. Programs that load it encode the white space in it."""
    return key is not None and _URL_KEY.search(key) is not None and _may_be_url(value)


def without_blanks(url: str) -> str:
    """Returns a URL with signs in place of white space, so that its reader does not end there."""
    return url.translate(_TO_SIGNS)


def _may_be_url(value: str) -> bool:
    return _URL.match(value.lstrip(_LEADING).translate(_IGNORED)) is not None


def _padded(escape: "re.Match[str]") -> str:
    char = chr(int(escape[1], 16)) if escape[1] else _SHORT.get(escape[2])
    return _as_blank(char, len(escape[0])) if char is not None and char in _BLANKS else escape[0]


def _as_blank(char: str, length: int) -> str:
    # A carriage return, which with a line feed would look like a blank line, is like any space here.
    return ("\n" if char == "\n" else " ").rjust(length)


def fitted(document: str, replacements: Iterable[Piece]) -> Iterator[Piece]:
    """Yields the replacements in the strings of a JSON document, spelled so that each string remains one string.

    A replacement that is valid in a string stays as it is, since it may come from a text that contained JSON. Any other
    is escaped. Drops the replacements of a string that would be invalid even so, because they cut an escape in two.
    """
    waiting = deque(replacements)
    for literal in _STRING.finditer(document):
        plain: list[Piece] = []
        while waiting and waiting[0][0] < literal.end():
            plain.append(waiting.popleft())
        if plain:
            escaped = [(a, b, t if _INSIDE.fullmatch(t) else escape_json(t)) for a, b, t in plain]
            yield from next((each for each in (plain, escaped) if _stays_one(literal, each)), ())


def _stays_one(literal: "re.Match[str]", pieces: Iterable[Piece]) -> bool:
    first = literal.start() + 1
    inside = splice(literal[0][1:-1], ((start - first, end - first, text) for start, end, text in pieces))
    return _INSIDE.fullmatch(inside) is not None


def splice(text: str, replacements: Iterable[Piece]) -> str:
    """Returns `text` with each `(start, end, piece)` replaced. They must be sorted and disjoint."""
    parts: list[str] = []
    position = 0
    for start, end, piece in replacements:
        parts += (text[position:start], piece)
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _decode(raw: str, start: int) -> tuple[str, tuple[tuple[int, int], ...]]:
    if "\\" not in raw:
        return raw, ((0, start),)
    parts: list[str] = []
    breaks = [(0, start)]
    decoded = position = 0
    for match in _CHARACTER.finditer(raw):
        parts += (raw[position : match.start()], _character(match))
        decoded += match.start() - position
        position = match.end()
        breaks += ((decoded, start + match.start()), (decoded + 1, start + position))
        decoded += 1
    parts.append(raw[position:])
    return "".join(parts), tuple(breaks)


def _character(escape: "re.Match[str]") -> str:
    if escape["low"]:
        return chr(0x10000 + ((int(escape["high"], 16) - 0xD800) << 10) + int(escape["low"], 16) - 0xDC00)
    if escape["char"]:
        return _SHORT.get(escape["char"], escape["char"])
    code = int(escape["code"], 16)
    # Half a surrogate pair is no text. The recognizers get the replacement character; the spelling stays.
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
