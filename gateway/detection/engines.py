"""Several ways to find private text, asked together: the recognizers, the model of names, a service of the operator's.

What any of them finds is a candidate; when one of them fails, the whole search fails, and nothing is sent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Protocol

from gateway.detection.normalized_text import COVERED
from gateway.detection.recognizer import EntityType
from gateway.models import Entity

_LEAST, _SURE, _BESIDE = 0.1, 0.5, 0.6
_FAR = 4
_BETWEEN = re.compile(r"[ \t]?[,:;(/|–-]?[ \t]?\(?")


class Finder(Protocol):
    """What finds candidates in a text. May block. Raises Unavailable when it cannot look."""

    @property
    def version(self) -> str:
        """Changes whenever what it finds may change."""
        ...

    @property
    def types(self) -> Mapping[str, EntityType]: ...

    def detect(self, text: str) -> tuple[Entity, ...]: ...


class Engine(Finder, Protocol):
    """One way to find private text, with threads or connections of its own. Never runs on an event loop."""

    def close(self) -> None: ...


class Engines:
    """The recognizers, and whatever else looks with them."""

    def __init__(self, patterns: Finder, others: Sequence[Engine] = ()) -> None:
        self._patterns = patterns
        self._others = tuple(others)
        merged = {name: kind for other in others for name, kind in other.types.items()} | dict(patterns.types)
        self.types: Mapping[str, EntityType] = MappingProxyType(merged)
        self.version = "_".join([patterns.version, *(other.version for other in others)])

    def detect(self, text: str) -> tuple[Entity, ...]:
        """All candidates, sorted by start and then longest first; they may overlap. Blocks."""
        found = list(self._patterns.detect(text))
        # The recognizers do not see what is covered; others may take it for part of a name.
        taken = [place.span() for place in COVERED.finditer(text)]
        for other in self._others:
            for one in other.detect(text):
                found += _outside(text, one, taken)
        found = list(_beside_names(text, found))
        found.sort(key=lambda one: (one.start, -one.end, one.type))
        return tuple(found)

    def close(self) -> None:
        """Ends the threads and connections of those that have any."""
        for other in self._others:
            with suppress(RuntimeError):
                other.close()


def _beside_names(text: str, found: Sequence[Entity]) -> Iterable[Entity]:
    """The findings; what could be a telephone number is one beside somebody's name: `Karim (600 11 22 33)`."""
    doubtful = {one for one in found if one.type == "PHONE_NUMBER" and _LEAST <= one.score < _SURE}
    if not doubtful:
        return found
    names = [one for one in found if one.type == "PERSON" and one.score >= _SURE]
    first, last = {name.start for name in names}, {name.end for name in names}

    def beside(number: Entity) -> bool:
        before = (text[at : number.start] for at in range(max(0, number.start - _FAR), number.start) if at in last)
        after = (text[number.end : at] for at in range(number.end + 1, number.end + _FAR + 1) if at in first)
        return any(map(_BETWEEN.fullmatch, chain(before, after)))

    return [replace(one, score=_BESIDE) if one in doubtful and beside(one) else one for one in found]


def _outside(text: str, found: Entity, taken: Sequence[tuple[int, int]]) -> Iterator[Entity]:
    """What of a finding lies outside the stretches that are taken; these are sorted and disjoint."""
    cutting = [(start, end) for start, end in taken if start < found.end and found.start < end]
    if not cutting:
        yield found
        return
    edges = [found.start, *(edge for stretch in cutting for edge in stretch), found.end]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        piece = text[start:end]
        if piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            yield replace(found, start=first, end=first + len(piece.strip()))
