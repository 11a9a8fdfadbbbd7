"""Interprets a model's labels: turns probabilities of labels into those of classes, and labels each token."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.given_names import MIN_PERSON
from gateway.detection.ner.inference import Chances
from gateway.detection.ner.spans import TokenLabel
from gateway.detection.recognizer import EntityType

_NONE_FOR_CERTAIN = 0.985
"""Probability of no class from which on no decision depends on the others, which all are taken from 0.02 on."""


class Classes:
    """Maps the model's labels to classes: 0 for none, then `types` in order."""

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
        self._begins = [labels.index(f"B-{name}") if f"B-{name}" in labels else -1 for name in names]
        self._inside = [labels.index(f"I-{name}") if f"I-{name}" in labels else -1 for name in names]
        self._none = labels.index("O")

    def candidates(self, labels: Chances) -> NDArray[np.int64]:
        """Returns the tokens that may have a class, or be a person. Most have none for certain."""
        return np.flatnonzero(labels[:, self._none] < _NONE_FOR_CERTAIN)

    def chances(self, labels: Chances) -> Chances:
        """Returns the probability of each class, `[tokens, classes]`, given those of the labels."""
        # Not a product of matrices, for which numpy would keep all cores busy. Index -1 reads as probability 0.
        padded = np.concatenate([labels, np.zeros((len(labels), 1), labels.dtype)], axis=1)
        classes: Chances = padded[:, [self._none, *self._begins]] + padded[:, [-1, *self._inside]]
        return classes

    def classify(self, labels: Chances) -> dict[int, TokenLabel]:
        """Returns the most likely class of each token that has one, and of those that may be a person."""
        rows = self.candidates(labels)
        labels = labels[rows]
        classes = self.chances(labels)
        best = classes.argmax(axis=1)
        person = classes[:, min(self.persons)] if self.persons else np.zeros(len(best))
        result: dict[int, TokenLabel] = {}
        for at in np.flatnonzero((best > 0) | (person >= MIN_PERSON)).tolist():
            label = int(best[at])
            begins, inside = self._begins[label - 1], self._inside[label - 1]
            opens = label > 0 and begins >= 0 and (inside < 0 or bool(labels[at, begins] > labels[at, inside]))
            result[int(rows[at])] = TokenLabel(label, opens, float(classes[at, label]), float(person[at]))
        return result
