"""Rewrites a text by a list of edits and maps spans back to the original.

Keeps only the surroundings of the edits, because the rest was searched before. All offsets are in bytes.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter

from gateway.detection.deobfuscation.base import Edit

_BEFORE = 112
_AFTER = 64
_TOKEN = 2048
_GAP = b" \n\n "
_MIN_GAP = _BEFORE + _AFTER
_UNREACHABLE = 9.0
_BY_START = itemgetter(0)


class RewrittenText:
    """The parent with its edits applied, as `data`. Its repr omits the text."""

    __slots__ = ("_edits", "_starts", "_stops", "data", "outer")

    def __init__(self, parent: bytes, edits: Iterable[Edit], outer: "RewrittenText | None" = None) -> None:
        self.outer = outer
        kept: list[Edit] = []
        starts: list[int] = []
        stops: list[int] = []
        self._edits, self._starts, self._stops = kept, starts, stops
        pieces: list[bytes] = []
        read = length = 0
        for edit in sorted(edits, key=_BY_START):
            start, end, data, _, _, _ = edit
            if start < read:
                continue
            if start - read > _MIN_GAP:
                length = self._omit(parent, pieces, read, start - _BEFORE, length)
                read = kept[-1].end if kept else 0
            pieces += (parent[read:start], data)
            length += start - read
            starts.append(length)
            length += len(data)
            stops.append(length)
            kept.append(edit)
            read = end
        if len(parent) - read > _MIN_GAP:
            self._omit(parent, pieces, read, len(parent), length)
            read = kept[-1].end
        pieces.append(parent[read:])
        self.data = _valid(b"".join(pieces))

    def _omit(self, parent: bytes, pieces: list[bytes], read: int, until: int, length: int) -> int:
        """Replaces text far from any edit with a separator that no finding may span."""
        last = _token_end(parent, read + _AFTER, until) if self._edits else 0
        first = _token_start(parent, last, until) if until < len(parent) else until
        if first - last <= len(_GAP):
            return length
        pieces += (parent[read:last], _GAP)
        length += last - read
        self._starts.append(length)
        length += len(_GAP)
        self._stops.append(length)
        self._edits.append(Edit(last, first, _GAP, _UNREACHABLE))
        return length

    def span(self, start: int, end: int, score: float) -> tuple[int, int] | None:
        """Maps `data[start:end]` to the original text. Returns None if the finding does not count.

        Only findings that overlap an edit count. All others were found in the parent already, or span omitted text.
        """
        if bisect_left(self._stops, start) == bisect_right(self._starts, end):
            return None
        inner = self._in_parent(start, end, score)
        if inner is None or not inner[2]:
            return None
        first, last, _ = inner
        rewritten = self.outer
        while rewritten is not None:
            outer = rewritten._in_parent(first, last, score)
            if outer is None:
                return None
            first, last, _ = outer
            rewritten = rewritten.outer
        return first, last

    def is_inside_edit(self, at: int) -> bool:
        """Returns whether an offset of the parent is strictly inside an edit."""
        index = bisect_left(self._edits, at, key=lambda edit: edit.end)
        return index < len(self._edits) and self._edits[index].start < at < self._edits[index].end

    def _in_parent(self, start: int, end: int, score: float) -> tuple[int, int, bool] | None:
        # An adjacent edit with replacement text bounds the finding, so it counts, too.
        low, high = bisect_left(self._stops, start), bisect_right(self._starts, end)
        through = False
        for index in range(low, high):
            edit, first, last = self._edits[index], self._starts[index], self._stops[index]
            overlaps = first < end and last > start and (first < last or start < first)
            if overlaps or (edit.data and edit.data != _GAP):
                if edit.min_score > score:
                    return None
                through = True
        return self._parent_start(start), self._parent_end(end), through

    def _parent_start(self, at: int) -> int:
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return at
        edit = self._edits[index]
        if at >= self._stops[index]:
            return edit.end + at - self._stops[index]
        if edit.unit is None:
            return edit.start
        return edit.start + (at - self._starts[index]) // edit.unit[1] * edit.unit[0]

    def _parent_end(self, at: int) -> int:
        index = bisect_left(self._starts, at) - 1
        if index < 0:
            return at
        edit = self._edits[index]
        if at > self._stops[index]:
            return edit.end + at - self._stops[index]
        if edit.unit is None or at == self._stops[index]:
            return edit.end
        return min(edit.start - (self._starts[index] - at) // edit.unit[1] * edit.unit[0] - edit.separator, edit.end)


def _token_start(data: bytes, low: int, at: int) -> int:
    floor = max(low, at - _TOKEN)
    return max(data.rfind(b" ", floor, at), data.rfind(b"\n", floor, at), floor)


def _token_end(data: bytes, at: int, high: int) -> int:
    ceiling = min(high, at + _TOKEN)
    ends = [end for end in (data.find(b" ", at, ceiling), data.find(b"\n", at, ceiling)) if end >= 0]
    return min(ends, default=ceiling)


def _valid(data: bytes) -> bytes:
    """Returns valid UTF-8 of the same length, with a question mark for each invalid byte."""
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return "".join("?" if "\udc80" <= char <= "\udcff" else char for char in text).encode()
    return data
