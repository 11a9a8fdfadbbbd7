"""Finds names, places and organizations with a token classification model.

`gateway.detection.ner.finder` makes a detection engine of it.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.given_names import MIN_PERSON
from gateway.detection.ner.inference import Chances, Input, Logits, Session, odds
from gateway.detection.ner.label_decoder import NONE_FOR_CERTAIN, LabelDecoder, ModelLabels
from gateway.detection.ner.spans import TokenLabel
from gateway.detection.recognizer import EntityType
from gateway.models import Entity

_LENGTH = 128
"""Tokens in a window, including the special tokens at both ends, as in training."""
_STEP = 112
"""Tokens between the starts of two windows. An overlap of seven tokens on each side suffices: sixteen found no more in
long texts and took a seventh more time."""


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


class Classes(ModelLabels):
    """Maps the model's labels to classes."""

    def candidates(self, labels: Chances) -> NDArray[np.int64]:
        """Returns the tokens that may have a class, or be a person. Most have none for certain."""
        return np.flatnonzero(labels[:, self.none] < NONE_FOR_CERTAIN)

    def chances(self, labels: Chances) -> Chances:
        """Returns the probability of each class, `[tokens, classes]`, given those of the labels."""
        # Not a product of matrices, for which numpy would keep all cores busy. Index -1 reads as probability 0.
        padded = np.concatenate([labels, np.zeros((len(labels), 1), labels.dtype)], axis=1)
        classes: Chances = padded[:, [self.none, *self.begins]] + padded[:, [-1, *self.inside]]
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
            begins, inside = self.begins[label - 1], self.inside[label - 1]
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
        self._classes = Classes(labels, types)
        self._decoder = LabelDecoder(self._classes, id)
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
            tuple(self._decoder.entities(text, own.offsets, self._classes.classify(odds(each))))
            for text, own, each in zip(texts, tokens, logits, strict=True)
        ]

    @abstractmethod
    def _tokens(self, text: str) -> Tokens:
        """Tokenizes a text, with token types if the model takes case and gap as such (features.py)."""

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
