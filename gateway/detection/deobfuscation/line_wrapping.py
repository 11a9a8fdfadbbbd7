"""Values broken over lines: by width, after a backslash or hyphen, behind the `>` of a quotation or the sign of a
comment.

Most lines end between words. A break is taken away only inside what looks like one token, never beside a value that is
complete where it stands.
"""

import re
from collections.abc import Iterator
from string import ascii_letters, digits

from gateway.detection.alphabet import LETTERS
from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.candidates import ends_as_host
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.deobfuscation.spaced import in_table
from gateway.detection.recognizer import compile_pattern

_QUOTE = r"[ \t]*(?:(?:[>|#*]|//)[ \t]*){0,8}"
_BREAK = rf"[ \t\\]?\r?\n{_QUOTE}"
_SIGN = r"[A-Za-z0-9@.+/_=:\-]"
_REST = r"[^\s\\]*"
# What stands before and after the break must both look like pieces of a value, for lines end with all sorts of words.
_GATE = "|".join(
    (
        rf"[0-9]{_REST}{_BREAK}\S*[0-9@]",
        rf"@{_REST}{_BREAK}{_SIGN}",
        rf"{_SIGN}{_BREAK}\S*@",
        rf"[A-Za-z0-9+/_.\-]{{16}}{_REST}{_BREAK}{_SIGN}",
        rf"(?:[a-z][A-Z]|[A-Z][A-Z]|[A-Za-z][_\-]){_REST}{_BREAK}\S*(?:[0-9]|[a-z][A-Z])",
    )
)
_GAP = re.compile(_BREAK.encode())
_BREAKS = compile_pattern(_GATE)
_HYPHENED = rf"[{LETTERS}\d@.](-{_BREAK})[{LETTERS}\d@.]"
_HYPHENS = compile_pattern(_HYPHENED)
_TELLING = re.compile(rb"[0-9@]|[a-z][A-Z]")
_SIGNS = frozenset(bytes((byte,)) for byte in b"@.+/_=:-" + (ascii_letters + digits).encode())
_WORD = re.compile(rb"[\"'(]*(?:[A-Za-z]?[a-z]{1,14}|[A-Z]{1,3})[\"').,;:!?]*")
_DATE = re.compile(rb"\d{4}-\d\d-\d\d|\d\d?:\d\d")
_LETTER = re.compile(rb"[A-Za-z]")
_LIST_MARK = re.compile(rb"(?:\d{1,3}[.)]|[A-Za-z][.)]|[\-*+])[ \t]+\S")
_LIKE_MD5 = re.compile(rb"[A-Za-z]{1,5}\d{1,3}[ \t]+[A-Za-z]")
_LOCAL_PART = re.compile(rb"[A-Za-z0-9]+[._+][A-Za-z0-9._+\-]*(?<!\.)$")
_GOES_ON = re.compile(rb"[0-9@/_+]|[a-z][A-Z]|\w[.:]\w")
_OPEN_ENDED = frozenset(
    "API_KEY SECRET PASSWORD JWT PRIVATE_KEY URL_WITH_CREDENTIALS CONNECTION_STRING URL DATE_OF_BIRTH".split()
)
_IPV6 = re.compile(rb"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]")
# Lines that nothing goes on in, see `_one_token`.
_LABELS = re.compile(rb"(?:[^\s@/]{1,14}[:=]\r?\n)++")
_NEAR, _TOKEN, _ROW = 48, 4096, 512
_LONG = 16
_LOCAL_NUMBER = 8
_ADDRESSES = frozenset({"EMAIL_ADDRESS", "IP_ADDRESS"})
_CERTAIN = 0.9
_LIKELY = 0.5
# The line after is another setting, header or label: nothing goes on in it.
_NEXT_NAME = compile_pattern(r"[A-Z][A-Z0-9_]{2,40}(?:=['\"A-Za-z0-9]|: )")
# The same below a setting, in any case: `server.port=8080`, `stringData:`.
_SETTING = re.compile(rb"[ \t\-]*[A-Za-z][\w.\-]{2,60}[ \t]?[=:]")
_NEXT_SETTING = re.compile(rb"[A-Za-z][\w.\-]{2,60}(?:[ \t]?=[ \t]?[^\s=]|[ \t]?:(?:\s|\Z))")


class _Neighbours:
    """Where values begin and end that are complete as they stand."""

    def __init__(self, taken: Taken) -> None:
        self._starts = {start: (kind, score) for start, _, score, kind in taken if score >= _LIKELY}
        self._ends = {
            end: kind
            for _, end, score, kind in taken
            if kind == "IP_ADDRESS" or score >= (_LIKELY if kind in _OPEN_ENDED else _CERTAIN)
        }

    def need(self, start: int, end: int, before: bytes, after: bytes) -> float | None:
        """The least score for what goes through the break; None if it is no break inside a value."""
        ending = self._ends.get(start)
        if ending in _OPEN_ENDED and not _GOES_ON.search(after):
            return None
        if ending is not None and ending not in _OPEN_ENDED and not _cut(ending, before, after):
            return None
        kind, score = self._starts.get(end, ("", 0.0))
        # The rest of a number may look like another number.
        if not kind or (score < _CERTAIN and kind not in _ADDRESSES and before[-1:].isdigit()):
            return 0.6
        if kind == "EMAIL_ADDRESS":
            return 0.6 if b"://" in before or _LOCAL_PART.match(before) else None
        return 1.0 if kind == "PHONE_NUMBER" and before[-1:].isdigit() else None


def _cut(kind: str, before: bytes, after: bytes) -> bool:
    """Whether a value only seems to be complete before the break."""
    if kind == "EMAIL_ADDRESS":
        return not ends_as_host(before)
    return kind == "IP_ADDRESS" and _IPV6.match(after) is not None


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    return _breaks(data, _Neighbours(taken))


def _breaks(data: bytes, neighbours: _Neighbours) -> Iterator[Edit]:
    """One value may go over several lines: what counts is how much it is altogether."""
    at = 0
    joined = _Joined()
    while found := _BREAKS.search(data, at):
        gap = _GAP.search(data, found.start(), found.end())
        if gap is None:
            return
        start, end = gap.span()
        at = end
        if (labels := _LABELS.match(data, end)) is not None and data[end - 1 : end] == b"\n":
            at = labels.end()
        before, after = _token_before(data, start), _token_after(data, end)
        if _LIST_MARK.match(data, end) or (before.isdigit() and _LIKE_MD5.match(data, end)):
            continue
        if not _one_token(before, after) or _NEXT_NAME.match(data, end) or _is_setting(data, start, end):
            continue
        need = neighbours.need(start, end, before, after)
        if need is None or _are_rows(data, start, end):
            continue
        if not _LETTER.search(before + after) and in_table(data, start, end):
            continue
        edit = Edit(start, end, _between(data, start, before, after), need)
        if start - len(before) != joined.end:
            yield from joined.edits()
            joined = _Joined(before)
        joined.add(edit, after)
    yield from joined.edits()


class _Joined:
    """The breaks of one value, and what stands between them."""

    def __init__(self, before: bytes = b"") -> None:
        self._text = before
        self._edits: list[Edit] = []
        self.end = -1

    def add(self, edit: Edit, after: bytes) -> None:
        self._edits.append(edit)
        self._text += after
        self.end = edit.end

    def edits(self) -> Iterator[Edit]:
        least = 0.0
        if not _LETTER.search(self._text):
            least = 0.7 if len(self._text) > _LOCAL_NUMBER else 0.8
        return (edit._replace(need=max(edit.need, least)) for edit in self._edits)


def _unhyphened(data: bytes, taken: Taken) -> Iterator[Edit]:
    neighbours = _Neighbours(taken)
    for found in _HYPHENS.finditer(data):
        start, end = found.span(1)
        before, after = _token_before(data, start), _token_after(data, end)
        need = neighbours.need(start, end, before, after)
        if need is not None and _TELLING.search(before + after):
            yield Edit(start, end, b"", need if _LETTER.search(before + after) else 0.8)
    yield from _breaks(data, neighbours)


def _words(data: bytes, taken: Taken) -> Iterator[Edit]:
    return (Edit(*found.span(1), b"") for found in _HYPHENS.finditer(data))


def _token_before(data: bytes, at: int) -> bytes:
    low = max(0, at - _NEAR)
    words = data[low:at].split()
    if len(words) < 2 and low:
        words = data[max(0, at - _TOKEN) : at].split()
    return words[-1]


def _token_after(data: bytes, at: int) -> bytes:
    words = data[at : at + _NEAR].split(None, 1)
    return words[0] if len(words) > 1 else data[at : at + _TOKEN].split(None, 1)[0]


def _one_token(before: bytes, after: bytes) -> bool:
    if before[-1:] in {b":", b"="} and b"@" not in before and b"://" not in before and len(before) < _LONG:
        return False  # `label:` and its value on the next line
    if before[-1:] not in _SIGNS or after[:1] not in _SIGNS or _DATE.match(after):
        return False
    if before[-1:] == b"." and not after[:1].isdigit():
        return False
    if _WORD.fullmatch(before):
        return b"@" in after
    return not _WORD.fullmatch(after) or before.find(b"@") > 0 or len(before) >= _LONG


def _is_setting(data: bytes, start: int, end: int) -> bool:
    """Whether the lines before and after the break both set something."""
    if _NEXT_SETTING.match(data, end) is None:
        return False
    line = data.rfind(b"\n", max(0, start - _ROW), start) + 1
    # The query of a broken address goes on with names, too.
    return _SETTING.match(data, line, start) is not None and not (
        b"://" in data[line:start] and b"?" in data[line:start]
    )


def _are_rows(data: bytes, start: int, end: int) -> bool:
    """Whether the lines before and after the break have the same number of cells."""
    before = data[data.rfind(b"\n", max(0, start - _ROW), start) + 1 : start]
    after = data[end : end + _ROW].partition(b"\n")[0]
    return any(
        0 < before.count(sign) - before.count(sign + b" ") == after.count(sign) - after.count(sign + b" ")
        for sign in (b",", b";", b"\t", b"|")
    )


def _between(data: bytes, start: int, before: bytes, after: bytes) -> bytes:
    """A space where groups of digits of one length meet, nothing elsewhere."""
    if not (before.isdigit() and after.rstrip(b".,;)").isdigit() and len(before) <= 6):
        return b""
    line = data[data.rfind(b"\n", max(0, start - 64), start) + 1 : start].split()
    return b" " if len(line) > 1 and len(before) > 1 and len(line[-2]) == len(before) and line[-2].isalnum() else b""


DRESS = Deobfuscation("wrapped", Kind.JOIN, _GATE, _edits, b"\n")
HYPHENED = Deobfuscation("hyphened", Kind.UNHYPHEN, _HYPHENED, _unhyphened, b"\n")
OF_WORDS = Deobfuscation("hyphened words", Kind.UNHYPHEN, _HYPHENED, _words, b"\n")
