"""The text as recognizers see it, with the exact way back to the source.

A view is UTF-8, folded: full-width forms, foreign digits, typographic dashes, quotes and spaces are their
ASCII equals, and what cannot be seen is gone. Recognizers speak in byte offsets of `View.data`;
`View.source_spans` turns them into code points of the source. A text that is only ASCII costs one copy and
needs no map.

This is the seam for other dresses of a text (percent- or base64-encoded stretches, for example): each is one
more view whose map leads back to the same source.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from unicodedata import category

from gateway.detection.fold import FoldTable

Span = tuple[int, int]

_FOLDS = FoldTable()
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
    """Code point positions of the source that the view leaves out, ascending."""

    def text(self, start: int, end: int) -> str:
        """The folded text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def source_spans(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Byte spans of the view as code point spans of the source, in the same order."""
        if self.ascii:
            yield from spans
            return
        code_point = _code_points(self.data)
        gaps = [position - index for index, position in enumerate(self.removed)]
        for start, end in spans:
            first, last = code_point(start), code_point(end) - 1
            yield (
                first + bisect_right(gaps, first),
                self._whole_grapheme(last + bisect_right(gaps, last) + 1),
            )

    def _whole_grapheme(self, end: int) -> int:
        """Moves an end past the marks that belong to the character before it: nobody sees half a letter as a
        border.
        """
        while end < len(self.source) and self.source[end] > "\x7f" and category(self.source[end])[0] == "M":
            end += 1
        return end


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


def read(source: str) -> View:
    """The folded view of a text."""
    if source.isascii():
        return View(source.encode(), source, ascii=True)
    folds = {char: folded for char in set(source) if char > "\x7f" and (folded := _FOLDS[ord(char)]) != char}
    if not folds:
        return View(source.encode(), source, ascii=False)
    gone = frozenset(char for char, folded in folds.items() if not folded)
    removed = tuple(at for at, char in enumerate(source) if char in gone) if gone else ()
    folded_text = source
    if len(folds) > _REPLACE_LIMIT:
        folded_text = source.translate(_FOLDS)
    else:
        for char, folded in folds.items():
            folded_text = folded_text.replace(char, folded)
    return View(folded_text.encode(), source, ascii=False, removed=removed)
