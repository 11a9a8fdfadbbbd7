"""Finds names, places and organizations with a token classification model.

`gateway.detection.ner.finder` makes a detection engine of it.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.given_names import MIN_PERSON
from gateway.detection.ner.inference import Chances, Input, Logits, Session, odds
from gateway.detection.ner.spans import TokenLabel, label_spans
from gateway.detection.ner.units import Units
from gateway.detection.recognizer import EntityType
from gateway.models import Entity

LOCATION = EntityType("LOCATION", "address", "A city, region, country or other place.")
ORGANIZATION = EntityType("ORGANIZATION", "organization", "A company, authority, team or other organization.")

_MIN_SCORE = 0.5
_LENGTH = 128
"""Tokens in a window, including the special tokens at both ends, as in training."""
_STEP = 112
"""Tokens between the starts of two windows. An overlap of seven tokens on each side suffices: sixteen found no more in
long texts and took a seventh more time."""

_NONE_FOR_CERTAIN = 0.985
"""Probability of no class from which on no decision depends on the others, which all are taken from 0.02 on."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Parallel lists without special tokens: ids, token types, and offsets in code points of the text."""

    ids: Sequence[int] = field(repr=False)
    types: Sequence[int] = field(repr=False)
    offsets: Sequence[tuple[int, int]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens `first:last` of a text. The results for `kept_first:kept_last` are used.

    Where two windows overlap, each token's result comes from the window in which it is farther from the edge.
    """

    first: int
    last: int
    kept_first: int
    kept_last: int


def windows(count: int) -> Iterator[Window]:
    """Yields overlapping windows over `count` tokens."""
    room = _LENGTH - 2
    margin = (room - _STEP) // 2
    first = kept = 0
    while True:
        last = min(first + room, count)
        kept_last = count if last == count else first + _STEP + margin
        yield Window(first, last, kept, kept_last)
        if last == count:
            return
        first, kept = first + _STEP, kept_last


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


class TokenClassifier(ABC):
    """Runs the ONNX model `model.onnx` in a folder. Subclasses tokenize.

    `labels` are the model's output labels in order: `O`, and `B-X` and `I-X` (or `I-X` alone). `types` maps each `X` to
    an entity type. `special` are the tokens before and after a window. Raises OSError or ValueError if the folder does
    not contain such a model.
    """

    def __init__(
        self,
        folder: Path,
        labels: Sequence[str],
        types: Mapping[str, EntityType],
        *,
        id: str,
        special: tuple[Sequence[int], Sequence[int]],
    ) -> None:
        model = (folder / "model.onnx").read_bytes()
        self._weights = hashlib.sha256(model)
        self.hash = self._weights.hexdigest()
        self.version = f"{id}+{self.hash[:12]}"
        self._id = id
        self._classes = Classes(labels, types)
        self.types: Mapping[str, EntityType] = MappingProxyType({one.name: one for one in self._classes.types})
        self._leading, self._trailing = special
        self._session = Session(model, arena=False)

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Returns what is in each text, sorted and disjoint. Blocks while the model runs.

        Raises Unavailable (`detection_failed`) if the model fails.
        """
        tokens = [self._tokens(text) for text in texts]
        logits = self._logits(tokens)
        return [
            tuple(self._entities(text, own, self._classes.classify(odds(each))))
            for text, own, each in zip(texts, tokens, logits, strict=True)
        ]

    def _entities(self, text: str, read: Tokens | Units, labels: dict[int, TokenLabel]) -> Iterator[Entity]:
        if not labels:
            return
        offsets = read.offsets
        labels = self._correct_labels(text, offsets, labels)
        for piece in label_spans(text, offsets, labels, persons=self._classes.persons):
            if piece.score >= _MIN_SCORE:
                name = self._classes.types[piece.label_class - 1].name
                yield from self._correct(text, Entity(name, piece.start, piece.end, round(piece.score, 2), self._id))

    @abstractmethod
    def _tokens(self, text: str) -> Tokens:
        """Tokenizes a text, with token types if the model takes case and gap as such (features.py)."""

    def _correct_labels(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> dict[int, TokenLabel]:
        """Hook for subclasses to correct the model's labels."""
        return labels

    def _correct(self, text: str, one: Entity) -> Iterable[Entity]:
        """Hook for subclasses to correct an entity."""
        return (one,)

    def _logits(self, tokens: Sequence[Tokens]) -> list[Logits]:
        """Returns the logits `[tokens, labels]` of each text. Equal windows are read once."""
        shift, joined = len(self._leading), []
        read: dict[Input, Logits] = {}
        for each in tokens:
            result = np.empty((len(each), self._classes.labels), np.float32)
            for piece in windows(len(each)) if each else ():
                one = self._input(each, piece)
                if one not in read:
                    read[one] = self._logits_of(one)
                kept = slice(shift + piece.kept_first - piece.first, shift + piece.kept_last - piece.first)
                result[piece.kept_first : piece.kept_last] = read[one][kept]
            joined.append(result)
        return joined

    def _logits_of(self, window: Input) -> Logits:
        """Returns the logits `[tokens, labels]` of a window.

        Windows are never batched. An int8 model scales activations by the largest in a batch, so other texts would
        affect the result, and the same turn would no longer give the same bytes.
        """
        logits: Logits = self._session.run(self._feed(window))[0]
        return logits

    def _feed(self, window: Input) -> dict[str, NDArray[np.int64]]:
        ids = np.array([window.ids], np.int64)
        feed = {"input_ids": ids}
        if "attention_mask" in self._session.inputs:
            feed["attention_mask"] = np.ones_like(ids)
        if "token_type_ids" in self._session.inputs:
            feed["token_type_ids"] = np.array([window.types], np.int64) if window.types else np.zeros_like(ids)
        return feed

    def _input(self, tokens: Tokens, window: Window) -> Input:
        part = slice(window.first, window.last)
        types = (*(0 for _ in self._leading), *tokens.types[part], *(0 for _ in self._trailing)) if tokens.types else ()
        return Input((*self._leading, *tokens.ids[part], *self._trailing), types)
