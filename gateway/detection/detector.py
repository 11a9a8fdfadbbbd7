"""Runs the recognizers over a text: one scan says which of them must look, then only those do."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from gateway.detection.deobfuscation import GATES, Findings, deobfuscate
from gateway.detection.discovery import definitions_digest, discover, types_of
from gateway.detection.normalized_text import View, read
from gateway.detection.prefilter import Gate, SplitScan
from gateway.detection.recognizer import DefinitionError, EntityType, Recognizer
from gateway.models import Entity

_FAMILY = "patterns-1.0"


class Detector:
    """Finds candidates of every type; what becomes of them is the policy's business.

    `recognizers`: which to run; None stands for all that discovery finds, and then `folders` are searched as
    well. Raises DefinitionError when a recognizer is wrong or does not do what its own examples say.
    """

    def __init__(self, recognizers: Sequence[Recognizer] | None = None, *, folders: Sequence[Path] = ()) -> None:
        self._recognizers = tuple(discover(folders) if recognizers is None else recognizers)
        self.types: Mapping[str, EntityType] = MappingProxyType(dict(types_of(self._recognizers)))
        self.version = f"{_FAMILY}+{definitions_digest(self._recognizers)[:12]}"
        self._gates = tuple(
            (number, gate) for number, one in enumerate(self._recognizers) for gate in range(len(one.gates))
        )
        own = [Gate(gate) for one in self._recognizers for gate in one.gates]
        self._scan = SplitScan([*own, *GATES])
        for recognizer in self._recognizers:
            self._check(recognizer)

    @property
    def recognizers(self) -> tuple[Recognizer, ...]:
        """What runs, in order of discovery."""
        return self._recognizers

    def detect(self, text: str) -> tuple[Entity, ...]:
        """All candidates, sorted by start and then longest first. They may overlap; see `resolve_overlaps`.

        Raises Unavailable (detection_failed) when the text could not be searched completely.
        """
        view = read(text)
        best = deobfuscate(view, self._search)
        if not best:
            return ()
        spans = view.source_spans((start, end) for start, end, _ in best)
        entities = [
            Entity(type_name, start, end, score, recognizer)
            for (start, end), (_, _, type_name), (score, recognizer) in zip(spans, best, best.values(), strict=True)
        ]
        entities.sort(key=lambda one: (one.start, -one.end, one.type))
        return tuple(entities)

    def _search(self, view: View) -> tuple[Findings, Sequence[int]]:
        """What stands there, and the dresses that are worn, by number."""
        hits = self._scan.hits(view.data)
        first_dress = bisect_left(hits, len(self._gates))
        return self._run(view, hits[:first_dress]), [hit - len(self._gates) for hit in hits[first_dress:]]

    def _run(self, view: View, hits: Sequence[int]) -> Findings:
        awake: dict[int, list[int]] = {}
        for hit in hits:
            number, gate = self._gates[hit]
            awake.setdefault(number, []).append(gate)
        best: Findings = {}
        for number, gates in awake.items():
            recognizer = self._recognizers[number]
            for start, end, score, type_name in recognizer.find(view, gates):
                key = (start, end, type_name)
                if key not in best or best[key][0] < score:
                    best[key] = (score, recognizer.id)
        return best

    def _check(self, recognizer: Recognizer) -> None:
        """Runs the recognizer's own examples, which also builds the automatons that the first requests will
        need.
        """
        for number, example in enumerate(recognizer.examples):
            start = example.text.find(example.value)
            wanted = (example.type or recognizer.types[0].name, start, start + len(example.value))
            scores = [one.score for one in self.detect(example.text) if (one.type, one.start, one.end) == wanted]
            if not scores or scores[0] < example.score:
                raise DefinitionError(f"{recognizer.id!r} does not find the value of its example {number}.")
        names = {one.name for one in recognizer.types}
        for number, text in enumerate(recognizer.counter_examples):
            if any(one.recognizer == recognizer.id and one.type in names for one in self.detect(text)):
                raise DefinitionError(f"{recognizer.id!r} finds something in its counter-example {number}.")


@cache
def builtin_detector() -> Detector:
    """Returns the detector of the built-in recognizers, built once in a process: that takes seconds, and it never
    changes.
    """
    return Detector()
