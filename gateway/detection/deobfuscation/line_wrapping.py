"""Joins values that are wrapped over lines: at the line width, after a backslash or hyphen, or before the `>` of a
quote or a comment sign.

Most lines end between words. A line break is removed only inside an apparent token, never next to a complete value.
"""

import re
from collections.abc import Iterator, Sequence
from string import ascii_letters, digits

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind, replacement
from gateway.detection.deobfuscation.spaced import in_table
from gateway.detection.deobfuscation.spelled_out import ends_as_host

_EXPRESSIONS = Expressions({**read_toml(__file__)["expressions"], "letters": LETTERS})
_GAP, _VALUE_MARK, _WORD, _DATE, _ENTRY = _EXPRESSIONS.of_bytes("gap", "value_mark", "word", "date", "entry")
_LIST_MARK, _CODE_BEFORE_WORD, _LOCAL_PART = _EXPRESSIONS.of_bytes("list_mark", "code_before_word", "local_part")
_CONTINUES, _REST_OF_SECRET, _WHOLE_JWT = _EXPRESSIONS.of_bytes("continues", "rest_of_secret", "whole_jwt")
_IPV6, _LABELS, _NUMBERED = _EXPRESSIONS.of_bytes("ipv6", "labels", "numbered")
_SETTING, _NEXT_SETTING = _EXPRESSIONS.of_bytes("setting", "next_setting")
_BREAKS, _HYPHENATED_BREAK, _NEXT_NAME = _EXPRESSIONS.re2("prefilter", "hyphenation", "next_name")
_VALUE_CHARACTERS = frozenset(bytes((byte,)) for byte in b"@.+/_=:-" + (ascii_letters + digits).encode())
_DIGIT = re.compile(rb"\d")
# In a date whose last part is on the next line.
_MOST_DATE_DIGITS = 4
_LETTER = re.compile(rb"[A-Za-z]")
_OPEN_ENDED = frozenset(
    "API_KEY SECRET PASSWORD JWT PRIVATE_KEY URL_WITH_CREDENTIALS CONNECTION_STRING URL DATE_OF_BIRTH".split()
)
_RANDOM = frozenset({"API_KEY", "SECRET", "JWT", "PRIVATE_KEY"})
_LOOKAROUND, _TOKEN, _ROW = 48, 4096, 512
_LONG_TOKEN = 16
_MAX_LOCAL_NUMBER = 8
_ADDRESSES = frozenset({"EMAIL_ADDRESS", "IP_ADDRESS"})
_CERTAIN = 0.9
_LIKELY = 0.5


class _CompleteValues:
    """The starts and ends of complete values."""

    def __init__(self, detected: DetectedSpans) -> None:
        self._starts = {start: (kind, score) for start, _, score, kind in detected if score >= _LIKELY}
        self._ends = {
            end: kind
            for _, end, score, kind in detected
            if kind == "IP_ADDRESS" or score >= (_LIKELY if kind in _OPEN_ENDED else _CERTAIN)
        }

    def min_score(self, start: int, end: int, before: bytes, after: bytes) -> float | None:
        """Returns the minimum score of a finding across the break, or None if the break does not split a value."""
        ending = self._ends.get(start)
        if ending in _OPEN_ENDED and not _CONTINUES.search(after):
            return None
        if ending in _RANDOM and (_REST_OF_SECRET.fullmatch(after) is None or _WHOLE_JWT.fullmatch(before)):
            return None
        if ending is not None and ending not in _OPEN_ENDED and not _is_cut(ending, before, after):
            return None
        kind, score = self._starts.get(end, ("", 0.0))
        # The second part of a number may look like a number of its own.
        if not kind or (score < _CERTAIN and kind not in _ADDRESSES and before[-1:].isdigit()):
            return 0.6
        if kind == "EMAIL_ADDRESS":
            return 0.6 if b"://" in before or _LOCAL_PART.match(before) else None
        return 1.0 if kind == "PHONE_NUMBER" and before[-1:].isdigit() else None


def _is_cut(kind: str, before: bytes, after: bytes) -> bool:
    """Returns whether a value only appears complete before the break."""
    if kind == "EMAIL_ADDRESS":
        return not ends_as_host(before)
    return kind == "IP_ADDRESS" and _IPV6.match(after) is not None


def _breaks(data: bytes, complete: _CompleteValues) -> Iterator[Edit]:
    """Yields edits for breaks. Joins consecutive breaks of one value, so that its total length decides."""
    at = 0
    joined: list[Edit] = []
    text = b""
    while found := _BREAKS.search(data, at):
        gap = _GAP.search(data, found.start(), found.end())
        if gap is None:
            return
        start, end = gap.span()
        at = end
        if (labels := _LABELS.match(data, end)) is not None and data[end - 1 : end] == b"\n":
            at = labels.end()
        before, after = _token_before(data, start), _token_after(data, end)
        if _LIST_MARK.match(data, end) or (before.isdigit() and _CODE_BEFORE_WORD.match(data, end)):
            continue
        if not _one_token(before, after) or _NEXT_NAME.match(data, end) or is_setting(data, start, end):
            continue
        if _are_numbered(data, start, end):
            continue
        min_score = complete.min_score(start, end, before, after)
        if min_score is None or _are_rows(data, start, end):
            continue
        if not _LETTER.search(before + after) and in_table(data, start, end):
            continue
        if not joined or start - len(before) != joined[-1].end:
            yield from _credible(joined, text)
            joined, text = [], before
        joined.append(Edit(start, end, _joiner(data, start, before, after), min_score))
        text += after
    yield from _credible(joined, text)


def _credible(edits: Sequence[Edit], text: bytes) -> Iterator[Edit]:
    """Yields the edits within one value; one without letters needs a higher score."""
    least = 0.0 if _LETTER.search(text) else 0.7 if len(text) > _MAX_LOCAL_NUMBER else 0.8
    return (edit._replace(min_score=max(edit.min_score, least)) for edit in edits)


def _hyphenated_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    complete = _CompleteValues(detected)
    for found in _HYPHENATED_BREAK.finditer(data):
        start, end = found.span(1)
        before, after = _token_before(data, start), _token_after(data, end)
        min_score = complete.min_score(start, end, before, after)
        if min_score is not None and _VALUE_MARK.search(before + after):
            yield Edit(start, end, b"", min_score if _LETTER.search(before + after) else 0.8)
    yield from _breaks(data, complete)


def _token_before(data: bytes, at: int) -> bytes:
    low = max(0, at - _LOOKAROUND)
    words = data[low:at].split()
    if len(words) < 2 and low:
        words = data[max(0, at - _TOKEN) : at].split()
    return words[-1]


def _token_after(data: bytes, at: int) -> bytes:
    words = data[at : at + _LOOKAROUND].split(None, 1)
    return words[0] if len(words) > 1 else data[at : at + _TOKEN].split(None, 1)[0]


def _one_token(before: bytes, after: bytes) -> bool:
    if before[-1:] in {b":", b"="} and b"@" not in before and b"://" not in before and len(before) < _LONG_TOKEN:
        return False  # `label:` with its value on the next line
    if before[-1:] not in _VALUE_CHARACTERS or after[:1] not in _VALUE_CHARACTERS or _DATE.match(after):
        return False
    if before[-1:] == b"." and not after[:1].isdigit():
        return False
    if _ENTRY.fullmatch(after) and len(_DIGIT.findall(before)) > _MOST_DATE_DIGITS:
        return False
    if _WORD.fullmatch(before):
        return b"@" in after
    return not _WORD.fullmatch(after) or before.find(b"@") > 0 or len(before) >= _LONG_TOKEN


def is_setting(data: bytes, start: int, end: int) -> bool:
    """Returns whether the lines before and after the break are both settings."""
    if _NEXT_SETTING.match(data, end) is None:
        return False
    line = data.rfind(b"\n", max(0, start - _ROW), start) + 1
    # The query of a wrapped URL also continues with names.
    return _SETTING.match(data, line, start) is not None and not (
        b"://" in data[line:start] and b"?" in data[line:start]
    )


def _are_numbered(data: bytes, start: int, end: int) -> bool:
    """Returns whether the lines before and after the break begin with a number and the next one."""
    line = data.rfind(b"\n", max(0, start - _ROW), start) + 1
    one, other = _NUMBERED.match(data, line, start), _NUMBERED.match(data, end)
    if one is None or other is None or one.group(1, 3) != other.group(1, 3):
        return False
    return int(one[2]) + 1 == int(other[2])


def _are_rows(data: bytes, start: int, end: int) -> bool:
    """Returns whether the lines before and after the break have the same number of cells."""
    before = data[data.rfind(b"\n", max(0, start - _ROW), start) + 1 : start]
    after = data[end : end + _ROW].partition(b"\n")[0]
    return any(
        0 < before.count(sign) - before.count(sign + b" ") == after.count(sign) - after.count(sign + b" ")
        for sign in (b",", b";", b"\t", b"|")
    )


def _joiner(data: bytes, start: int, before: bytes, after: bytes) -> bytes:
    """Returns a space between digit groups of equal length, else nothing."""
    if not (before.isdigit() and after.rstrip(b".,;)").isdigit() and len(before) <= 6):
        return b""
    line = data[data.rfind(b"\n", max(0, start - 64), start) + 1 : start].split()
    return b" " if len(line) > 1 and len(before) > 1 and len(line[-2]) == len(before) and line[-2].isalnum() else b""


DEOBFUSCATION = Deobfuscation(
    "line_wrapping",
    RewriteKind.JOIN,
    _EXPRESSIONS["prefilter"],
    lambda data, found: _breaks(data, _CompleteValues(found)),
    b"\n",
)
HYPHENATED_LINES = Deobfuscation(
    "hyphenation", RewriteKind.UNHYPHEN, _EXPRESSIONS["hyphenation"], _hyphenated_edits, b"\n"
)
FOR_KNOWN_VALUES = Deobfuscation(
    "hyphenation_known_values",
    RewriteKind.UNHYPHEN,
    _EXPRESSIONS["hyphenation"],
    replacement(_EXPRESSIONS["hyphenation"], b""),
    b"\n",
)
