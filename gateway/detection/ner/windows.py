"""A text as the model reads it: word pieces with where they stand, cut into windows that overlap."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tokenizers import Tokenizer

from gateway.detection.ner.features import token_types

LENGTH = 128
"""Tokens of a window, its first and last (special) ones included; what the model was trained on."""
STEP = 112
"""From one window to the next. Seven tokens on both sides of each border are enough: with sixteen, no more was found in
long texts, and they cost a seventh more."""


STRETCH = 1 << 16
"""Characters of which everything is in memory at once; a book would take gigabytes."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Parallel lists, without special tokens: ids, token types, and offsets in code points of the text."""

    ids: Sequence[int] = field(repr=False)
    types: Sequence[int] = field(repr=False)
    offsets: Sequence[tuple[int, int]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens `first:last` of a text, of which `kept_first:kept_last` are to be believed.

    Where two windows overlap, each token is read where it stands farther from an edge.
    """

    first: int
    last: int
    kept_first: int
    kept_last: int


def read(tokenizer: Tokenizer, text: str, *, features: bool) -> Tokens:
    """The word pieces of a text; with `features`, what else the model is told of each."""
    # Of the library's ways to read one text, this one leaves the interpreter to others meanwhile.
    (encoding,) = tokenizer.encode_batch([text], add_special_tokens=False)
    offsets = encoding.offsets
    return Tokens(encoding.ids, token_types(text, offsets) if features else (), offsets)


def stretches(text: str, most: int = STRETCH) -> Iterator[tuple[int, int]]:
    """Cuts a long text at ends of lines, else between words, into pieces of at most `most` characters."""
    start = 0
    while len(text) - start > most:
        least, last = start + most // 2, start + most
        ends = (text.rfind(sign, least, last) + 1 for sign in "\n ")
        end = next(filter(None, ends), last)
        yield start, end
        start = end
    yield start, len(text)


def windows(count: int, length: int = LENGTH, step: int = STEP) -> Iterator[Window]:
    """Covers `count` tokens by windows of at most `length` with two special tokens, `step` apart."""
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
