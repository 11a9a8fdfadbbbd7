"""The text as recognizers see it, with the exact way back to the source.

A view is UTF-8, folded: full-width forms, foreign digits, typographic dashes, quotes and spaces are their
ASCII equals, and what cannot be seen is gone. Recognizers speak in byte offsets of `View.data`;
`View.source_spans` turns them into code points of the source. A text that is only ASCII costs one copy and
needs no map.

Placeholders that the request's own key made hold nothing and are covered by `cover`: they are blotted out, and say
nothing about what stands beside them. Whatever only looks like a placeholder is text. Other dresses of a text
(encoded, spaced out, broken over lines) are views of this one: `dress/`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gateway.detection.graphemes import end_of, start_of
from gateway.detection.unicode_folding import FoldTable

Span = tuple[int, int]

_FOLDS = FoldTable()
# A noncharacter: Unicode assigns it to nobody, so that a text which holds it says nothing there.
_COVER = "\ufdd0"
COVERED = re.compile(f"{_COVER}+")
_BLOT = "\n\x1f.\x1f"
_PAD = _BLOT * 32
_CONTINUATION = bytes(range(0x80, 0xC0))
_STRIDE_BITS = 8
# Above this many different characters to replace, one pass that maps every character is cheaper than a pass
# for each.
_REPLACE_LIMIT = 12


@dataclass(frozen=True, slots=True)
class View:
    """`data` is what recognizers search. Built by `read`. Its repr shows no text."""

    data: bytes = field(repr=False)
    source: str = field(repr=False)
    ascii: bool
    removed: tuple[int, ...] = field(default=(), repr=False)
    """Code point positions of the source, with its blots, that the view leaves out; ascending."""
    blots: tuple[int, ...] = field(default=(), repr=False)
    """Where `_PAD` was put into the source: code point positions of the source with its blots; ascending."""

    def text(self, start: int, end: int) -> str:
        """The folded text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def source_spans(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Byte spans of the view as code point spans of the source, in the same order."""
        if not self.ascii:
            return self._mapped(spans)
        return (self._whole(start, end) for start, end in spans) if "\r" in self.source else iter(spans)

    def _mapped(self, spans: Iterable[Span]) -> Iterator[Span]:
        code_point = _code_points(self.data)
        gaps = [position - index for index, position in enumerate(self.removed)]
        for start, end in spans:
            first, last = code_point(start), code_point(end) - 1
            first += bisect_right(gaps, first)
            last += bisect_right(gaps, last)
            if self.blots:
                first, last = self._unpadded(first), self._unpadded(last)
            yield self._whole(first, last + 1)

    def _unpadded(self, position: int) -> int:
        """Inside a pad: the end of the covered stretch."""
        before = bisect_right(self.blots, position)
        if not before:
            return position
        return max(position - before * len(_PAD), self.blots[before - 1] - (before - 1) * len(_PAD))

    def _whole(self, start: int, end: int) -> Span:
        """Moves both ends out of the characters they may stand in: nobody sees half a letter as a border."""
        return start_of(self.source, start), end_of(self.source, end)


class _code_points:  # noqa: N801 - used as a function
    """Byte offset -> code point offset. A table of every 256th byte, then a count of the few bytes left."""

    __slots__ = ("_data", "_table")

    def __init__(self, data: bytes) -> None:
        self._data = data
        table, total = [0], 0
        for at in range(0, len(data), 1 << _STRIDE_BITS):
            total += len(data[at : at + (1 << _STRIDE_BITS)].translate(None, _CONTINUATION))
            table.append(total)
        self._table = table

    def __call__(self, offset: int) -> int:
        block = offset >> _STRIDE_BITS
        rest = self._data[block << _STRIDE_BITS : offset]
        return self._table[block] + len(rest.translate(None, _CONTINUATION))


def cover(text: str, stretches: Iterable[Span]) -> str:
    """The text, as long as before, with stretches made unreadable for every search. These are sorted and disjoint."""
    pieces: list[str] = []
    read = 0
    for start, end in stretches:
        pieces += (text[read:start], _COVER * (end - start))
        read = end
    return "".join((*pieces, text[read:]))


def _blotted(source: str) -> tuple[str, tuple[int, ...]]:
    """The source with its covered stretches made unreadable, and where they were made longer.

    What stands for a long value is short: without the pad, words would count as near that were far from what follows.
    """
    pieces: list[str] = []
    blots: list[int] = []
    read = length = 0
    for found in COVERED.finditer(source):
        inside = found.end() - found.start()
        pieces += (source[read : found.start()], (_BLOT * inside)[:inside], _PAD)
        length += found.start() - read + inside
        blots.append(length)
        length += len(_PAD)
        read = found.end()
    pieces.append(source[read:])
    return "".join(pieces), tuple(blots)


def read(source: str) -> View:
    """The folded view of a text."""
    shown, blots = _blotted(source) if _COVER in source else (source, ())
    if shown.isascii():
        return View(shown.encode(), source, ascii=not blots, blots=blots)
    folds = {char: folded for char in set(shown) if char > "\x7f" and (folded := _FOLDS[ord(char)]) != char}
    if not folds:
        return View(shown.encode(), source, ascii=False, blots=blots)
    gone = frozenset(char for char, folded in folds.items() if not folded)
    removed = tuple(at for at, char in enumerate(shown) if char in gone) if gone else ()
    folded_text = shown
    if len(folds) > _REPLACE_LIMIT:
        folded_text = shown.translate(_FOLDS)
    else:
        for char, folded in folds.items():
            folded_text = folded_text.replace(char, folded)
    return View(folded_text.encode(), source, ascii=False, removed=removed, blots=blots)
