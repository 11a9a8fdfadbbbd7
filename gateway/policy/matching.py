"""Finds the terms and patterns of a policy, after one prefilter pass that determines which of them occur at all.

Like recognizers, they match the normalized text (gateway/detection/normalized_text.py), so that full-width letters,
invisible characters and typographic dashes cannot hide a value.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Protocol

from gateway.detection.normalized_text import normalize_text
from gateway.detection.prefilter import PatternSet
from gateway.detection.recognizer import DefinitionError
from gateway.errors import Unavailable
from gateway.models import OWN_RECOGNIZER, Entity
from gateway.policy.document import DenyDocument, PatternDocument
from gateway.policy.lists import terms_of
from gateway.policy.patterns import ExpressionError, PatternSearch, Span

MAX_FINDINGS = 100_000
"""Maximum number of entities per text, against patterns that match too often and exhaust memory."""


class Search(Protocol):
    """An `expression` and the spans it matches in the bytes of a normalized text."""

    @property
    def type(self) -> str: ...
    @property
    def recognizer(self) -> str: ...
    @property
    def expression(self) -> str: ...

    def spans(self, data: bytes) -> Iterator[Span]: ...


class Matcher:
    """Finds terms, as findings of `recognizer`, and patterns. Compiles them on first use or in `compile`."""

    def __init__(
        self,
        deny: Iterable[DenyDocument],
        patterns: Iterable[PatternDocument],
        recognizer: str = OWN_RECOGNIZER + "deny",
    ) -> None:
        self._searches: Sequence[Search] = (*terms_of(deny, recognizer), *map(PatternSearch, patterns))

    def __repr__(self) -> str:
        return f"Matcher({len(self._searches)} searches)"

    @cached_property
    def _scan(self) -> PatternSet:
        return PatternSet([search.expression for search in self._searches])

    def compile(self) -> None:
        """Compiles all expressions. Raises ExpressionError if they exceed their memory limit."""
        try:
            self._scan.hits(b"")
            for search in self._searches:
                list(search.spans(b""))
        except (DefinitionError, Unavailable):
            raise ExpressionError("the lists and patterns together are too large; shorten them") from None

    def find(self, text: str) -> tuple[Entity, ...]:
        """Returns entities sorted by start, then longest first. They may overlap. Offsets are code points of `text`.

        Raises Unavailable (`detection_failed`) if the search is incomplete.
        """
        normalized = normalize_text(text)
        hits = self._scan.hits(normalized.data)
        if not hits:
            return ()
        found: list[tuple[Search, Span]] = []
        for hit in sorted(hits):
            search = self._searches[hit]
            for span in search.spans(normalized.data):
                found.append((search, span))
                if len(found) > MAX_FINDINGS:
                    raise Unavailable(
                        "The policy's patterns match too often in this text; make them more specific.",
                        code="detection_failed",
                    )
        places = normalized.source_spans((start, end) for _, (start, end, _) in found)
        entities = [
            Entity(search.type, start, end, score, search.recognizer)
            for (start, end), (search, (_, _, score)) in zip(places, found, strict=True)
        ]
        return tuple(sorted(entities, key=lambda one: (one.start, -one.end, one.type)))
