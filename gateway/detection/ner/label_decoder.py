"""Decodes the labels that a model gives to tokens: which entities they mean."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gateway.detection.ner.spans import TokenLabel, label_spans
from gateway.detection.recognizer import EntityType
from gateway.models import Entity

LOCATION = EntityType("LOCATION", "address", "A city, region, country or other place.")
ORGANIZATION = EntityType("ORGANIZATION", "organization", "A company, authority, team or other organization.")

NONE_FOR_CERTAIN = 0.985
"""Probability of no class from which on no decision depends on the others, which all are taken from 0.02 on."""
_MIN_SCORE = 0.5


class ModelLabels:
    """A model's labels and what they mean: classes are 0 for none, then `types` in order."""

    def __init__(self, labels: Sequence[str], types: Mapping[str, EntityType]) -> None:
        names = list(dict.fromkeys(label[2:] for label in labels if label != "O"))
        odd = [label for label in labels if label != "O" and label[:2] not in {"B-", "I-"}]
        if not names or odd or labels.count("O") != 1:
            raise ValueError("the model's labels do not have the form O, B-X, I-X")
        if any(name not in types for name in names):
            raise ValueError("the model has a label without an entity type")
        self.types = [types[name] for name in names]
        self.labels = len(labels)
        self.persons = frozenset(index + 1 for index, one in enumerate(self.types) if one.name == "PERSON")
        # -1 for labels that the model does not have.
        self.begins = [labels.index(f"B-{name}") if f"B-{name}" in labels else -1 for name in names]
        self.inside = [labels.index(f"I-{name}") if f"I-{name}" in labels else -1 for name in names]
        self.none = labels.index("O")


class LabelDecoder:
    """Makes entities, found by `recognizer`, of the labels of tokens."""

    def __init__(self, labels: ModelLabels, recognizer: str) -> None:
        self._labels = labels
        self._recognizer = recognizer

    def entities(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> Iterable[Entity]:
        """Returns the entities of a text, sorted and disjoint. `labels` are those of some tokens, in order."""
        return self._decoded(text, offsets, labels)

    def _decoded(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> Iterator[Entity]:
        if not labels:
            return
        labels = self._correct_labels(text, offsets, labels)
        for piece in label_spans(text, offsets, labels, persons=self._labels.persons):
            if piece.score >= _MIN_SCORE:
                name = self._labels.types[piece.label_class - 1].name
                found = Entity(name, piece.start, piece.end, round(piece.score, 2), self._recognizer)
                yield from self._correct(text, found)

    def _correct_labels(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> dict[int, TokenLabel]:
        """Hook for subclasses to correct the model's labels."""
        return labels

    def _correct(self, text: str, one: Entity) -> Iterable[Entity]:
        """Hook for subclasses to correct an entity."""
        return (one,)
