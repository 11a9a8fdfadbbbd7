"""Divides a text into blocks that are read, and remembered, each on its own.

The text itself decides where a block ends, so that a change moves the ends next to it only: in the 88 KB that an agent
sends again, a changed line costs the block that it is in.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

MIN_LENGTH = 1000
MAX_LENGTH = 3000
"""Characters of a block; only the last may be shorter."""
CONTEXT = 120
"""Characters that are read before and after a block."""
# Where a block may end, the best first: after a blank line, a line, a sentence, a word.
_ENDS = tuple(map(re.compile, (r"\n[ \t\r]*\n(?=[^\n])", r"\n(?=[^\n])", r"[.!?;] ", r"\s(?=\S)")))
_SPACE = re.compile(r"\s")
_DECIDING = 32
"""Characters after a possible end that decide whether it becomes one."""


@dataclass(frozen=True, slots=True)
class Block:
    """The characters `start:end` of a text, read as part of `first:last`."""

    start: int
    end: int
    first: int
    last: int


def blocks(text: str) -> Iterator[Block]:
    """Yields the blocks of a text in order; together they are the text."""
    start = 0
    while len(text) - start > MAX_LENGTH:
        end = _end(text, start)
        yield _with_context(text, start, end)
        start = end
    yield _with_context(text, start, len(text))


def _end(text: str, start: int) -> int:
    """Returns the possible end within reach whose following characters have the smallest hash."""
    least, most = start + MIN_LENGTH, start + MAX_LENGTH
    for sign in _ENDS:
        if ends := [found.end() for found in sign.finditer(text, least, most)]:
            return min(ends, key=lambda end: _hash(text[end : end + _DECIDING]))
    return most


def _hash(piece: str) -> int:
    # Checksums of numbered lines rise and fall with the numbers; multiplied, they do not (Knuth, TAOCP 6.4).
    return crc32(piece.encode("utf-8", "surrogatepass")) * 2654435761 & 0xFFFFFFFF


def _with_context(text: str, start: int, end: int) -> Block:
    """Adds the context, which begins and ends between words where there is such a place in its outer half."""
    first, last = max(0, start - CONTEXT), min(len(text), end + CONTEXT)
    if first and (space := _SPACE.search(text, first, start - CONTEXT // 2)):
        first = space.end()
    if last < len(text):
        last = next((at for at in range(last, last - CONTEXT // 2, -1) if text[at].isspace()), last)
    return Block(start, end, first, last)
