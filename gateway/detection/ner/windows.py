"""Splits the tokens of a text into overlapping windows for the model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LENGTH = 128
"""Tokens in a window, including the special tokens at both ends, as in training."""
STEP = 112
"""Tokens between the starts of two windows. An overlap of seven tokens on each side suffices: sixteen found no more in
long texts and took a seventh more time."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Parallel lists without special tokens: ids, token types, and offsets in code points of the text."""

    ids: Sequence[int] = field(repr=False)
    types: Sequence[int] = field(repr=False)
    offsets: Sequence[tuple[int, int]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens `first:last` of a text. The results for `kept_first:kept_last` are used.

    Where two windows overlap, each token's result comes from the window in which it is farther from the edge.
    """

    first: int
    last: int
    kept_first: int
    kept_last: int


def windows(count: int, length: int = LENGTH, step: int = STEP) -> Iterator[Window]:
    """Yields windows over `count` tokens: at most `length` long with two special tokens, and `step` apart."""
    room = length - 2
    margin = (room - step) // 2
    first = kept = 0
    while True:
        last = min(first + room, count)
        kept_last = count if last == count else first + step + margin
        yield Window(first, last, kept, kept_last)
        if last == count:
            return
        first, kept = first + step, kept_last
