"""Views made by replacing stretches of another view, with the exact way back through every replacement.

Only the neighbourhoods of the replaced stretches are kept: what lies elsewhere was searched before. All offsets
are bytes; `parent` is what was rewritten.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

_BEFORE = 112
_AFTER = 64
_TOKEN = 2048
_GAP = b" \n\n "
_FAR = _BEFORE + _AFTER
_NEVER = 9.0
_BY_START = itemgetter(0)


class Edit(NamedTuple):
    """`parent[start:end]` reads as `data`. A finding that goes through it counts from a score of `need`.

    `unit` (bytes of the parent, bytes of `data`): the stretch is made of such units and may be cut between them;
    without it, the stretch is one piece. The last `loose` bytes of a unit only separate it from the next.
    """

    start: int
    end: int
    data: bytes
    need: float = 0.0
    unit: tuple[int, int] | None = None
    loose: int = 0


class Rewritten:
    """`data` is the parent with its stretches replaced. Its repr shows no text."""

    __slots__ = ("_edits", "_starts", "_stops", "above", "data")

    def __init__(self, parent: bytes, edits: Iterable[Edit], above: "Rewritten | None" = None) -> None:
        self.above = above
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
            if start - read > _FAR:
                length = self._gap(parent, pieces, read, start - _BEFORE, length)
                read = kept[-1].end if kept else 0
            pieces += (parent[read:start], data)
            length += start - read
            starts.append(length)
            length += len(data)
            stops.append(length)
            kept.append(edit)
            read = end
        if len(parent) - read > _FAR:
            self._gap(parent, pieces, read, len(parent), length)
            read = kept[-1].end
        pieces.append(parent[read:])
        self.data = _valid(b"".join(pieces))

    def _gap(self, parent: bytes, pieces: list[bytes], read: int, until: int, length: int) -> int:
        """Leaves out what is too far from a replaced stretch to matter, by one that no finding may cross."""
        last = _token_end(parent, read + _AFTER, until) if self._edits else 0
        first = _token_start(parent, last, until) if until < len(parent) else until
        if first - last <= len(_GAP):
            return length
        pieces += (parent[read:last], _GAP)
        length += last - read
        self._starts.append(length)
        length += len(_GAP)
        self._stops.append(length)
        self._edits.append(Edit(last, first, _GAP, _NEVER))
        return length

    def span(self, start: int, end: int, score: float) -> tuple[int, int] | None:
        """Where `data[start:end]` stands in the first of all parents; None if it does not count as found.

        Only what goes through a replaced stretch counts: all else was found in the parent, or was not there.
        """
        if bisect_left(self._stops, start) == bisect_right(self._starts, end):
            return None
        inner = self._in_parent(start, end, score)
        if inner is None or not inner[2]:
            return None
        first, last, _ = inner
        view = self.above
        while view is not None:
            outer = view._in_parent(first, last, score)
            if outer is None:
                return None
            first, last, _ = outer
            view = view.above
        return first, last

    def cuts(self, at: int) -> bool:
        """Whether an offset of the parent lies inside a replaced stretch that is one piece."""
        index = bisect_left(self._edits, at, key=lambda edit: edit.end)
        return index < len(self._edits) and self._edits[index].start < at < self._edits[index].end

    def _in_parent(self, start: int, end: int, score: float) -> tuple[int, int, bool] | None:
        # A stretch that only touches the finding began or ended it, if anything is left of the stretch.
        low, high = bisect_left(self._stops, start), bisect_right(self._starts, end)
        through = False
        for index in range(low, high):
            edit, first, last = self._edits[index], self._starts[index], self._stops[index]
            inside = first < end and last > start and (first < last or start < first)
            if inside or (edit.data and edit.data != _GAP):
                if edit.need > score:
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
        return min(edit.start - (self._starts[index] - at) // edit.unit[1] * edit.unit[0] - edit.loose, edit.end)


def _token_start(data: bytes, low: int, at: int) -> int:
    floor = max(low, at - _TOKEN)
    return max(data.rfind(b" ", floor, at), data.rfind(b"\n", floor, at), floor)


def _token_end(data: bytes, at: int, high: int) -> int:
    ceiling = min(high, at + _TOKEN)
    ends = [end for end in (data.find(b" ", at, ceiling), data.find(b"\n", at, ceiling)) if end >= 0]
    return min(ends, default=ceiling)


def _valid(data: bytes) -> bytes:
    """The same length, always UTF-8: bytes of other encodings read as question marks."""
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return "".join("?" if "\udc80" <= char <= "\udcff" else char for char in text).encode()
    return data
