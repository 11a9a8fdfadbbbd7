"""A policy's own findings: its deny list and its patterns, in one pass that says which of them occur at all.

They are matched on the folded view of a text (gateway/detection/normalized_text.py), as recognizers are: full-width
letters, invisible characters and typographic dashes do not help a value to slip past.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Protocol

from gateway.detection.normalized_text import normalize_text
from gateway.detection.prefilter import PatternSet
from gateway.detection.recognizer import DefinitionError
from gateway.errors import Unavailable
from gateway.models import Entity
from gateway.policy.document import DenyDocument, PatternDocument
from gateway.policy.lists import terms_of
from gateway.policy.patterns import ExpressionError, PatternSearch, Span

MAX_FINDINGS = 100_000
"""In one text. More is a pattern gone wrong, and memory it could fill."""


class Search(Protocol):
    """One expression (`gate`) and where it stands in the bytes of a view."""

    @property
    def type(self) -> str: ...
    @property
    def recognizer(self) -> str: ...
    @property
    def gate(self) -> str: ...

    def spans(self, data: bytes) -> Iterator[Span]: ...


class Matcher:
    """Finds the terms and patterns of one policy. Compiled when first used, or by `compile`."""

    def __init__(self, deny: Iterable[DenyDocument], patterns: Iterable[PatternDocument]) -> None:
        self._searches: Sequence[Search] = (*terms_of(deny), *map(PatternSearch, patterns))

    def __repr__(self) -> str:
        return f"Matcher({len(self._searches)} searches)"

    @cached_property
    def _scan(self) -> PatternSet:
        return PatternSet([search.gate for search in self._searches])

    def compile(self) -> None:
        """Raises ExpressionError when the lists and patterns do not fit the memory set aside for them."""
        try:
            self._scan.hits(b"")
            for search in self._searches:
                list(search.spans(b""))
        except (DefinitionError, Unavailable):
            raise ExpressionError("the lists and patterns are too large together") from None

    def find(self, text: str) -> tuple[Entity, ...]:
        """Findings sorted by start, then longest first; they may overlap. Offsets are code points of `text`.

        Raises Unavailable (`detection_failed`) when the text could not be searched completely.
        """
        view = normalize_text(text)
        hits = self._scan.hits(view.data)
        if not hits:
            return ()
        found: list[tuple[Search, Span]] = []
        for hit in sorted(hits):
            search = self._searches[hit]
            for span in search.spans(view.data):
                found.append((search, span))
                if len(found) > MAX_FINDINGS:
                    raise Unavailable("The policy's patterns match too often in this text.", code="detection_failed")
        places = view.source_spans((start, end) for _, (start, end, _) in found)
        entities = [
            Entity(search.type, start, end, score, search.recognizer)
            for (start, end), (search, (_, _, score)) in zip(places, found, strict=True)
        ]
        return tuple(sorted(entities, key=lambda one: (one.start, -one.end, one.type)))
