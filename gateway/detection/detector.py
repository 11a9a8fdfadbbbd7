"""Runs recognizers over a text: a prefilter selects the ones that can match, and only those run."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from gateway.detection.deobfuscation.search import PREFILTERS, Findings, deobfuscate
from gateway.detection.discovery import definitions_digest, discover, types_of
from gateway.detection.engines import Finder
from gateway.detection.normalized_text import NormalizedText, normalize_text
from gateway.detection.prefilter import Prefilter, PrefilterPattern
from gateway.detection.recognizer import DefinitionError, EntityType, Recognizer
from gateway.models import Entity

_FAMILY = "patterns-1.0"
_LIKELY = 0.5


class Detector(Finder):
    """Finds candidate entities of all types. The policy decides what happens to them.

    `recognizers` are the recognizers to run; None means all that discovery finds, including those in `folders`.
    Raises DefinitionError if a recognizer is invalid or, unless `check` is false, fails its own examples.
    """

    def __init__(
        self, recognizers: Sequence[Recognizer] | None = None, *, folders: Sequence[Path] = (), check: bool = True
    ) -> None:
        self.recognizers = tuple(discover(folders) if recognizers is None else recognizers)
        """The recognizers that run, in order of discovery."""
        self.types: Mapping[str, EntityType] = MappingProxyType(dict(types_of(self.recognizers)))
        self.version = f"{_FAMILY}+{definitions_digest(self.recognizers)[:12]}"
        self._prefilters = tuple(
            (number, prefilter)
            for number, one in enumerate(self.recognizers)
            for prefilter in range(len(one.prefilters))
        )
        own = [PrefilterPattern(prefilter) for one in self.recognizers for prefilter in one.prefilters]
        self._prefilter = Prefilter([*own, *PREFILTERS])
        if check:
            self.check()

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Returns all candidates, sorted by start, then longest first. They may overlap; see `resolve_overlaps`.

        Raises Unavailable (detection_failed) if the search did not reach the end of the text.
        """
        normalized = normalize_text(text)
        best = deobfuscate(normalized, self._search)
        if not best:
            return ()
        spans = normalized.source_spans((start, end) for start, end, _ in best)
        entities = [
            Entity(type_name, start, end, score, recognizer)
            for (start, end), (_, _, type_name), (score, recognizer) in zip(spans, best, best.values(), strict=True)
        ]
        entities.sort(key=lambda one: (one.start, -one.end, one.type))
        return tuple(self._without_tails(entities))

    def _without_tails(self, entities: Iterable[Entity]) -> Iterator[Entity]:
        """Yields the entities, which are sorted, without addresses that are the end of a secret and a host.

        In `jane:secret@host.example`, `secret@host.example` is no address.
        """
        end = 0
        for one in entities:
            if one.type != "EMAIL_ADDRESS" or one.start >= end:
                yield one
            if self.types[one.type].group == "secret" and one.score >= _LIKELY:
                end = max(end, one.end)

    def _search(self, normalized: NormalizedText) -> tuple[Findings, Sequence[int]]:
        """Returns the findings in one text, and the indices of the deobfuscations whose prefilters match it."""
        hits = self._prefilter.hits(normalized.data)
        first_deobfuscation = bisect_left(hits, len(self._prefilters))
        return self._run(normalized, hits[:first_deobfuscation]), [
            hit - len(self._prefilters) for hit in hits[first_deobfuscation:]
        ]

    def _run(self, normalized: NormalizedText, hits: Sequence[int]) -> Findings:
        hits_by_recognizer: dict[int, list[int]] = {}
        for hit in hits:
            number, prefilter = self._prefilters[hit]
            hits_by_recognizer.setdefault(number, []).append(prefilter)
        best: Findings = {}
        for number, prefilters in hits_by_recognizer.items():
            recognizer = self.recognizers[number]
            for start, end, score, type_name in recognizer.find(normalized, prefilters):
                key = (start, end, type_name)
                if key not in best or best[key][0] < score:
                    best[key] = (score, recognizer.id)
        return best

    def check(self) -> None:
        """Runs the recognizers' own examples, which also builds RE2's automata. Raises DefinitionError if one fails."""
        for recognizer in self.recognizers:
            for number, example in enumerate(recognizer.examples):
                start = example.text.find(example.value)
                wanted = (example.type or recognizer.types[0].name, start, start + len(example.value))
                scores = [one.score for one in self.detect(example.text) if (one.type, one.start, one.end) == wanted]
                if not scores or scores[0] < example.score:
                    raise DefinitionError(f"{recognizer.id!r} does not find the value in its example {number}.")
            for number, text in enumerate(recognizer.counter_examples):
                if any(one.recognizer == recognizer.id for one in self.detect(text)):
                    raise DefinitionError(f"{recognizer.id!r} matches its counter-example {number}.")


@cache
def builtin_detector() -> Detector:
    """Returns the detector of the built-in recognizers, built once per process.

    Their examples take more than a second, so they are left to the tests and to `doctor`.
    """
    return Detector(check=False)
