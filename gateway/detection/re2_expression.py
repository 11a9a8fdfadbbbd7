"""Wraps compiled RE2 expressions over bytes with less overhead than the library's own Python classes.

A text takes dozens of searches, most without a match; the library's wrapper takes as long as such a search.
"""

from collections.abc import Iterator
from typing import Any

import re2

_SEARCH, _MATCH, _FULL = re2._Anchor.UNANCHORED, re2._Anchor.ANCHOR_START, re2._Anchor.ANCHOR_BOTH


class Re2Match:
    """A match. Offsets are in bytes, -1 for a group that did not participate."""

    __slots__ = ("_data", "_spans")

    def __init__(self, data: bytes, spans: list[tuple[int, int]]) -> None:
        self._data = data
        self._spans = spans

    def span(self, group: int = 0) -> tuple[int, int]:
        return self._spans[group]

    def start(self, group: int = 0) -> int:
        return self._spans[group][0]

    def end(self, group: int = 0) -> int:
        return self._spans[group][1]

    def group(self, group: int = 0) -> Any:
        """Returns the bytes of a group, or None if it did not participate."""
        start, end = self._spans[group]
        return None if start < 0 else self._data[start:end]

    __getitem__ = group

    def groups(self) -> tuple[Any, ...]:
        return tuple(map(self.group, range(1, len(self._spans))))


class Expression:
    """A compiled expression. As in `re`, `at` and `end` bound the search; `^` and `\\b` see the surrounding bytes."""

    __slots__ = ("_find", "pattern")

    def __init__(self, compiled: "re2._Regexp") -> None:
        self.pattern: str = compiled.pattern
        self._find = compiled._regexp.Match

    def search(self, data: bytes, at: int = 0, end: int | None = None) -> Re2Match | None:
        """Returns the first match at or after `at`."""
        last = len(data) if end is None else end
        if not 0 <= at <= last <= len(data):
            return self._try(_SEARCH, data, at, end)
        spans = self._find(_SEARCH, data, at, last)
        return Re2Match(data, spans) if spans[0][0] >= 0 else None

    def match(self, data: bytes, at: int = 0, end: int | None = None) -> Re2Match | None:
        """Returns a match that starts at `at`."""
        return self._try(_MATCH, data, at, end)

    def fullmatch(self, data: bytes, at: int = 0, end: int | None = None) -> Re2Match | None:
        """Returns a match that covers everything from `at` to `end`."""
        return self._try(_FULL, data, at, end)

    def finditer(self, data: bytes, at: int = 0, end: int | None = None) -> Iterator[Re2Match]:
        """Yields all non-overlapping matches in order. After an empty match, the search advances by one byte."""
        size = len(data)
        last = size if end is None else max(0, min(end, size))
        at = max(0, min(at, size))
        while at <= last:
            spans = self._find(_SEARCH, data, at, last)
            match_end = spans[0][1]
            if match_end < 0:
                return
            yield Re2Match(data, spans)
            at = match_end if match_end > at else at + 1

    def _try(self, anchor: object, data: bytes, at: int, end: int | None) -> Re2Match | None:
        size = len(data)
        at, end = max(0, min(at, size)), size if end is None else max(0, min(end, size))
        if at > end:
            return None
        spans = self._find(anchor, data, at, end)
        return Re2Match(data, spans) if spans[0][0] >= 0 else None


def neighbourhoods(data: bytes, prefilter: Expression, before: int, after: int) -> Iterator[tuple[int, int]]:
    """Yields disjoint ranges around the matches of `prefilter`, which must be shorter than `after`.

    Searches for the prefilter once in `after` bytes, so that a text full of matches costs no more than a long one.
    """
    first, last, at = -1, -1, 0
    while match := prefilter.search(data, at):
        if match.start() - before > last:
            if last >= 0:
                yield first, last
            first = max(match.start() - before, 0)
        last = min(max(match.end(), match.start() + after) + after, len(data))
        at = max(match.end(), last - after)
    if last >= 0:
        yield first, last
