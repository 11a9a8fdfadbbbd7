"""Divides a text into units that may go to different compartments: sentences, whole tables, whole blocks of code.

A heading stays with what follows it. No finding is ever cut. A table or block of code that is longer than a compartment
is cut between its lines; a sentence is never cut.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from gateway.sharding.segmentation import Block, BlockKind, blocks, lines_of, sentences
from gateway.text.fields import Span

type Weigh = Callable[[int, int], float]
"""Estimates the tokens of `text[start:end]` after protection."""


@dataclass(frozen=True, slots=True)
class Title:
    """A heading of the source, `text[start:end]`, of level 1-6."""

    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]`, with about `tokens` tokens after protection. `title` is the index of its heading."""

    start: int
    end: int
    tokens: float
    title: int | None


def units_of(text: str, spans: Sequence[Span], weigh: Weigh, bound: float) -> tuple[list[Unit], list[Title]]:
    """Returns the units of a text in order, and its headings.

    Only white space is outside of the units. Every span is within one unit.
    """
    found: list[Unit] = []
    titles: list[Title] = []
    for block in blocks(text):
        if block.kind is BlockKind.HEADING:
            titles.append(Title(block.level, block.start, block.end))
        for start, end in _pieces(text, block, weigh, bound):
            found.append(Unit(start, end, weigh(start, end), len(titles) - 1 if titles else None))
    whole = _with_all_spans(found, spans, weigh)
    return _with_headings(whole, titles, weigh, bound), titles


def _pieces(text: str, block: Block, weigh: Weigh, bound: float) -> Iterable[tuple[int, int]]:
    for start, end in sentences(text, block):
        if block.kind is BlockKind.HEADING or weigh(start, end) <= bound:
            yield start, end
        elif block.kind in (BlockKind.TABLE, BlockKind.CODE):
            yield from _packed(lines_of(text, start, end), weigh, bound)
        else:
            yield start, end


def _packed(lines: Sequence[tuple[int, int]], weigh: Weigh, bound: float) -> Iterable[tuple[int, int]]:
    """Joins as many lines as fit, so that a block is cut as rarely as possible."""
    start, end = lines[0]
    tokens = weigh(start, end)
    for first, last in lines[1:]:
        more = weigh(end, last)
        if tokens + more > bound:
            yield start, end
            start, tokens = first, 0.0
        tokens += more
        end = last
    yield start, end


def _with_all_spans(units: Sequence[Unit], spans: Sequence[Span], weigh: Weigh) -> list[Unit]:
    """Joins the units that a span reaches into, so that no border cuts a finding."""
    if not units or not spans:
        return list(units)
    joined = [replace(units[0], start=min(units[0].start, spans[0].start))]
    for unit in units[1:]:
        before = joined[-1]
        # Spans are disjoint, so the last one that begins before the unit reaches farthest.
        last = bisect_left(spans, unit.start, key=lambda span: span.start) - 1
        if last >= 0 and spans[last].end > before.end:
            joined[-1] = replace(before, end=unit.end, tokens=weigh(before.start, unit.end))
        else:
            joined.append(unit)
    joined[-1] = replace(joined[-1], end=max(joined[-1].end, spans[-1].end))
    return joined


def _with_headings(units: Sequence[Unit], titles: Sequence[Title], weigh: Weigh, bound: float) -> list[Unit]:
    """Joins each heading with the unit after it, if both fit in a compartment."""
    joined: list[Unit] = []
    for index, unit in enumerate(units):
        if index and _is_heading(units[index - 1], titles):
            start = joined[-1].start
            tokens = weigh(start, unit.end)
            if tokens <= bound:
                joined[-1] = Unit(start, unit.end, tokens, unit.title)
                continue
        joined.append(unit)
    return joined


def _is_heading(unit: Unit, titles: Sequence[Title]) -> bool:
    if unit.title is None:
        return False
    title = titles[unit.title]
    return title.start == unit.start and title.end >= unit.end
