"""Normalizes a text for the recognizers and maps byte spans back to the source.

Normalized text is UTF-8 with folded characters: full-width forms, non-ASCII digits, typographic dashes, quotes and
spaces become their ASCII equivalents; invisible characters and terminal sequences are removed. Recognizers work with
byte offsets into `NormalizedText.data`; `NormalizedText.source_spans` converts them to code points of the source. Pure
ASCII costs one copy and needs no offset table.

Placeholders minted by the request's own key are covered with `cover` beforehand: they are masked, so that they neither
match nor serve as context. Anything that only looks like a placeholder is text. Encoded, spaced out and wrapped values
are handled by `deobfuscation/`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gateway.detection.graphemes import is_boundary
from gateway.detection.terminal_sequences import hide_sequences
from gateway.detection.unicode_folding import FOLDING

Span = tuple[int, int]

# A Unicode noncharacter, which carries no meaning in a text that contains it.
_COVER = "\ufdd0"
_COVERED = re.compile(f"{_COVER}+")
_MASK = "\n\x1f.\x1f"
_PADDING = _MASK * 32
_CONTINUATION = bytes(range(0x80, 0xC0))
_STRIDE_BITS = 8
# Above this many distinct characters to replace, `str.translate` is cheaper than one `str.replace` for each.
_REPLACE_LIMIT = 12


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """A text as the recognizers search it (`data`). Created by `normalize_text`. Its repr omits the text."""

    data: bytes = field(repr=False)
    source: str = field(repr=False)
    ascii: bool
    removed: tuple[int, ...] = field(default=(), repr=False)
    """Positions of removed characters, in code points of the masked source; ascending."""
    padding: tuple[int, ...] = field(default=(), repr=False)
    """Positions where `_PADDING` was inserted, in code points of the masked source; ascending."""

    def text(self, start: int, end: int) -> str:
        """Returns the normalized text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def source_spans(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Converts byte spans of `data` to code point spans of the source, in the same order."""
        if not self.ascii:
            return self._map_spans(spans)
        return (self._widen(start, end) for start, end in spans) if "\r" in self.source else iter(spans)

    def _map_spans(self, spans: Iterable[Span]) -> Iterator[Span]:
        code_point = _CodePointOffsets(self.data)
        gaps = [position - index for index, position in enumerate(self.removed)]
        for start, end in spans:
            first, last = code_point(start), code_point(end) - 1
            first += bisect_right(gaps, first)
            last += bisect_right(gaps, last)
            if self.padding:
                first, last = self._without_padding(first), self._without_padding(last)
            yield self._widen(first, last + 1)

    def _without_padding(self, position: int) -> int:
        """Converts a position in the masked source to the source. Positions inside padding map to the placeholder's
        end.
        """
        before = bisect_right(self.padding, position)
        if not before:
            return position
        return max(position - before * len(_PADDING), self.padding[before - 1] - (before - 1) * len(_PADDING))

    def _widen(self, start: int, end: int) -> Span:
        """Widens a span to grapheme cluster boundaries, so that it never splits a visible character."""
        while 0 < start < len(self.source) and not is_boundary(self.source, start):
            start -= 1
        while 0 < end < len(self.source) and not is_boundary(self.source, end):
            end += 1
        return start, end


class _CodePointOffsets:
    """Converts byte offsets to code point offsets: a table entry for every 256 bytes, then a count of the rest."""

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


def cover(text: str, spans: Iterable[Span]) -> str:
    """Replaces sorted, disjoint spans of a text by as many characters that no search matches."""
    pieces: list[str] = []
    read = 0
    for start, end in spans:
        pieces += (text[read:start], _COVER * (end - start))
        read = end
    return "".join((*pieces, text[read:]))


def covered_spans(text: str) -> Iterator[Span]:
    """Yields the covered spans of a text. A substring search is ten times as fast as the expression alone."""
    at = text.find(_COVER)
    while at >= 0 and (match := _COVERED.match(text, at)):
        yield match.span()
        at = text.find(_COVER, match.end())


def _mask_covered(source: str) -> tuple[str, tuple[int, ...]]:
    """Returns the source with its covered spans masked and padded, and the positions of the padding.

    A placeholder may be much shorter than its value. Without padding, words far from the following text would count as
    its context.
    """
    pieces: list[str] = []
    padding: list[int] = []
    read = length = 0
    for start, end in covered_spans(source):
        width = end - start
        pieces += (source[read:start], (_MASK * width)[:width], _PADDING)
        length += start - read + width
        padding.append(length)
        length += len(_PADDING)
        read = end
    pieces.append(source[read:])
    return "".join(pieces), tuple(padding)


def normalize_text(source: str) -> NormalizedText:
    """Normalizes a text for detection."""
    shown = hide_sequences(source)
    masked, padding = _mask_covered(shown) if _COVER in shown else (shown, ())
    if masked.isascii():
        return NormalizedText(masked.encode(), source, ascii=not padding, padding=padding)
    folds = {char: folded for char in set(masked) if char > "\x7f" and (folded := FOLDING[ord(char)]) != char}
    if not folds:
        return NormalizedText(masked.encode(), source, ascii=False, padding=padding)
    invisible = frozenset(char for char, folded in folds.items() if not folded)
    removed = tuple(at for at, char in enumerate(masked) if char in invisible) if invisible else ()
    folded_text = masked
    if len(folds) > _REPLACE_LIMIT:
        folded_text = masked.translate(FOLDING)
    else:
        for char, folded in folds.items():
            folded_text = folded_text.replace(char, folded)
    return NormalizedText(folded_text.encode(), source, ascii=False, removed=removed, padding=padding)


def plain_text(normalized: NormalizedText) -> str:
    """Returns the whole of a normalized text."""
    return normalized.text(0, len(normalized.data))
