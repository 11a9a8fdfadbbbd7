"""Defines a deobfuscation: each module in this folder undoes one way of writing a value that defeats a search."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from gateway.detection.recognizer import compile_pattern

type DetectedSpans = Sequence[tuple[int, int, float, str]]
"""Findings in the text before the rewrite: start and end in bytes, score, type; sorted."""


class Edit(NamedTuple):
    """Replaces `parent[start:end]` with `data`. A finding that overlaps the edit needs a score of at least `min_score`.

    `unit` (bytes of the parent, bytes of `data`) divides the edit into units, between which a span may start or end;
    without it, a span covers the whole edit. The last `separator` bytes of a unit only separate it from the next.
    """

    start: int
    end: int
    data: bytes
    min_score: float = 0.0
    unit: tuple[int, int] | None = None
    separator: int = 0


class RewriteKind(Enum):
    """Which edits are applied together. Each kind produces its own rewritten text, since one may hide what another
    finds.

    `DECODE` replaces escaped or substituted characters, `UNPACK` decodes whole encoded texts, `JOIN` removes separators
    and line breaks within a value, `UNHYPHEN` also removes hyphens at line ends, `SPLIT` separates a value from the
    label that it shares a word with, and `LAYOUT` writes signs for what only the layout says.
    """

    DECODE = "decode"
    UNPACK = "unpack"
    JOIN = "join"
    UNHYPHEN = "unhyphen"
    SPLIT = "split"
    LAYOUT = "layout"


@dataclass(frozen=True, slots=True)
class Deobfuscation:
    """Undoes one form of obfuscation.

    `prefilter` (RE2) and the literal `needs`, which is quicker to search for, occur in every text with this form and in
    few others. `edits` returns the replacements. It must run in linear time on any text.
    """

    name: str
    kind: RewriteKind
    prefilter: str
    edits: Callable[[bytes, DetectedSpans], Iterable[Edit]]
    needs: bytes = b""


def replacement(
    regex: str, data: bytes, min_score: float = 0.0, group: int = 1
) -> Callable[[bytes, DetectedSpans], Iterator[Edit]]:
    """Returns edits that write `data` in place of a group of each match."""
    expression = compile_pattern(regex)
    return lambda text, _: (Edit(*found.span(group), data, min_score) for found in expression.finditer(text))
