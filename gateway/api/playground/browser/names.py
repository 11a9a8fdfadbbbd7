"""Finds names in the browser: the student alone reads, by JavaScript (`page/student.js`), and the gateway decodes.

The transformer, which in a gateway reads again what the student doubts, is too large for a page.
"""

import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module

from gateway.api.playground.browser.units import UnitReader
from gateway.detection.detector import Detector
from gateway.detection.engines import Engines
from gateway.detection.ner.builtin_decoder import BuiltinDecoder, builtin_labels, with_plain_quotes
from gateway.detection.ner.finder import NameFinder
from gateway.detection.ner.given_names import MIN_PERSON
from gateway.detection.ner.label_decoder import NONE_FOR_CERTAIN, ModelLabels
from gateway.detection.ner.spans import TokenLabel
from gateway.detection.recognizer import EntityType
from gateway.models import NAME_MODEL, Entity

type Chances = Callable[[array[int]], Sequence[float]]
"""Returns the probabilities of all labels for each unit, given the rows of all features (int32)."""


def in_javascript(rows: array[int]) -> Sequence[float]:
    """Has the page's JavaScript compute the chances."""
    # Not when this module is imported: what JavaScript gives is not part of a memory image.
    found: memoryview = import_module("svc_student").chances(rows).to_py()
    return found.tolist()


def with_names(patterns: Detector, chances: Chances = in_javascript) -> Engines:
    """Returns the recognizers and the student as one finder. A browser has no threads for long texts."""
    return Engines(patterns, [NameFinder(StudentReader(patterns.types, chances))], long=sys.maxsize)


class StudentReader:
    """The student as a reader. `known` are the recognizers' types."""

    version = f"{NAME_MODEL}+student"
    hash = ""

    def __init__(self, known: Mapping[str, EntityType], chances: Chances) -> None:
        self._labels = ModelLabels(*builtin_labels(known))
        self._decoder = BuiltinDecoder(self._labels)
        self._reader = UnitReader(self._decoder.ordinary, self._decoder.given)
        self._chances = chances
        self.types: Mapping[str, EntityType] = {one.name: one for one in self._labels.types}

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Returns what is in each text, sorted and disjoint."""
        return [self._read(with_plain_quotes(text)) for text in texts]

    def rest(self) -> None:
        """Does nothing: nothing is kept."""

    def _read(self, text: str) -> tuple[Entity, ...]:
        units = self._reader.read(text)
        chances = self._chances(array("i", units.rows)) if units.rows else ()
        return tuple(self._decoder.entities(text, units.offsets, dict(self._classified(chances))))

    def _classified(self, chances: Sequence[float]) -> Iterator[tuple[int, TokenLabel]]:
        """Yields the most likely class of each unit that has one, and of those that may be a person."""
        labels = self._labels
        (person,) = labels.persons
        for unit, first in enumerate(range(0, len(chances), labels.labels)):
            if chances[first + labels.none] >= NONE_FOR_CERTAIN:
                continue
            begins, inside = (
                [chances[first + at] if at >= 0 else 0.0 for at in (-1, *each)]
                for each in (labels.begins, labels.inside)
            )
            classes = [one + other for one, other in zip(begins, inside, strict=True)]
            classes[0] = chances[first + labels.none]
            best = max(range(len(classes)), key=classes.__getitem__)
            if best or classes[person] >= MIN_PERSON:
                opens = best > 0 and labels.begins[best - 1] >= 0 and begins[best] > inside[best]
                yield unit, TokenLabel(best, opens, classes[best], classes[person])
