"""Finds names, places and organisations by a model that judges every token.

Stands beside the recognizers, behind the same interface; where both see something, `resolve_overlaps` decides.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from gateway.concurrency.job_context import given_up
from gateway.detection.ner.given_names import with_names
from gateway.detection.ner.inference import Inference, Input, Logits
from gateway.detection.ner.labels import without_labels
from gateway.detection.ner.ordinary_words import OrdinaryWords, Words
from gateway.detection.ner.spans import Labelled, spans
from gateway.detection.ner.types import label_types
from gateway.detection.ner.windows import Tokens, Window, read, stretches, windows
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity

MODEL = Path(__file__).parent / "model"

_SURE = 0.5
# What the model is here for. Of all else it knows the kind of thing only, and a recognizer that names the very type is
# to win where both see something.
_ITS_OWN = frozenset({"PERSON", "LOCATION", "ORGANIZATION", "STREET_ADDRESS"})
_AT_MOST = 0.55
_OF_WORDS = frozenset({"PERSON", "USERNAME"})
_OF_DIGITS = frozenset({"MEDICAL_RECORD_NUMBER", "ID_NUMBER"})
# Commits, colours and error codes; and what is too little for a street.
_HEX = re.compile(r"0x[0-9A-Fa-f]+|(?=\d*[a-f])[0-9a-f]{6,12}")
_CELL = re.compile(r"[^\s\u00a0]+(?:[ \u00a0][^\s\u00a0]+)*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_FEWEST_DIGITS = 6
# Medicines by their doses are no street with its numbers.
_DOSE = re.compile(r"\d ?(?:mg|mcg|µg|ml|UI|IE|IU)\b")
# Right before and behind a word, these make it a part of a path, a command, an address or a name in a program.
_PATH = re.compile(r"(?:~/|\.\w{0,5}/|\b(?:bin|etc|usr|lib|opt|var|tmp|src|dev)/|\w-)\Z")
_BEFORE = 8
_GOES_ON = re.compile(r"://|[.(]\w|-\w|\(\)")


class TokenClassifier:
    """A model in the ONNX format with its tokenizer: `model.onnx` and `tokenizer.json` of a folder.

    `labels` are those of its output, in order: `O`, and `B-X` and `I-X` (or `I-X` alone); `types` says which entity
    type each `X` is. With `features`, it takes case and gap as token types (names/features.py). Raises OSError or
    ValueError for a folder that does not hold such a model.
    """

    def __init__(
        self,
        folder: Path,
        labels: Sequence[str],
        types: Mapping[str, EntityType],
        *,
        id: str,
        features: bool,
        threads: int,
        timeout: float,
    ) -> None:
        model = (folder / "model.onnx").read_bytes()
        self.hash = hashlib.sha256(model).hexdigest()
        self.version = f"{id}+{self.hash[:12]}"
        self._id = id
        self._features = features
        self._classes = _Classes(labels, types)
        self.types: Mapping[str, EntityType] = MappingProxyType({one.name: one for one in self._classes.types})
        self._tokenizer = _tokenizer(folder / "tokenizer.json")
        self._before, self._after = _special(self._tokenizer)
        self._inference = Inference(model, threads=threads, timeout=timeout)

    def close(self) -> None:
        """Ends the model's threads."""
        self._inference.close()

    def detect(self, text: str) -> tuple[Entity, ...]:
        """The candidates of a text, sorted and disjoint. Blocks while the model reads.

        Raises Unavailable (`detection_failed`, `detection_timeout`) when the text could not be read completely.
        """
        found: list[Entity] = []
        for start, end in stretches(text):
            if given_up():
                raise Unavailable("Nobody waits for this any more.", code="detection_timeout")
            found += self._detect(text[start:end], start)
        return tuple(found)

    def _detect(self, text: str, offset: int) -> Iterator[Entity]:
        tokens = read(self._tokenizer, text, features=self._features)
        if not tokens:
            return
        pieces = list(windows(len(tokens)))
        logits = self._inference.logits([self._input(tokens, piece) for piece in pieces])
        labels = self._named(text, tokens, self._classes.read(self._joined(pieces, logits)))
        for piece in spans(text, tokens.offsets, labels, persons=self._classes.persons):
            if piece.score >= _SURE:
                name = self._classes.types[piece.kind - 1].name
                yield Entity(name, offset + piece.start, offset + piece.end, round(piece.score, 2), self._id)

    def _named(self, text: str, tokens: Tokens, labels: list[Labelled]) -> list[Labelled]:
        """The labels, after what is known besides the model."""
        return labels

    def _input(self, tokens: Tokens, window: Window) -> Input:
        part = slice(window.first, window.last)
        types = (*(0 for _ in self._before), *tokens.types[part], *(0 for _ in self._after)) if self._features else ()
        return Input((*self._before, *tokens.ids[part], *self._after), types)

    def _joined(self, pieces: Sequence[Window], logits: Sequence[Logits]) -> Logits:
        """Each token's logits from the window that is to be believed."""
        shift = len(self._before)
        return np.concatenate(
            [
                one[shift + piece.kept_first - piece.first : shift + piece.kept_last - piece.first]
                for piece, one in zip(pieces, logits, strict=True)
            ]
        )


class NameFinder(TokenClassifier):
    """The model that comes with the gateway. `known` are the recognizers' types."""

    def __init__(self, known: Mapping[str, EntityType], *, threads: int = 1, timeout: float = 10.0) -> None:
        labels = json.loads((MODEL / "labels.json").read_text())
        types = label_types(known)
        super().__init__(MODEL, labels, types, id="names", features=True, threads=threads, timeout=timeout)
        self._ordinary = OrdinaryWords(MODEL / "ordinary.txt")
        self._given = Words(MODEL / "given.txt")
        self.version = f"{self.version}.{self._ordinary.version}.{self._given.version}"

    def detect(self, text: str) -> tuple[Entity, ...]:
        """The candidates of a text, sorted and disjoint; see TokenClassifier."""
        return tuple(part for one in super().detect(text) for part in self._sound(text, one))

    def _named(self, text: str, tokens: Tokens, labels: list[Labelled]) -> list[Labelled]:
        (person,) = self._classes.persons
        return with_names(text, tokens.offsets, labels, names=self._given, ordinary=self._ordinary, person=person)

    def _sound(self, text: str, one: Entity) -> Iterator[Entity]:
        """What is left of a finding in view of what the model knows too little of: words, labels, numbers."""
        value = text[one.start : one.end]
        if one.type == "USERNAME" and _is_technical(text, one.start, one.end):
            return
        if one.type in _OF_WORDS:
            yield from self._without_columns(text, one)
            return
        if one.type in _OF_DIGITS and (not any(char.isdigit() for char in value) or _HEX.fullmatch(value)):
            return
        if one.type == "STREET_ADDRESS" and value.islower() and value.isalpha() and value in self._ordinary:
            return
        if one.type == "STREET_ADDRESS" and _DOSE.search(value):
            return
        if one.type == "STREET_ADDRESS" and not _LETTERS.search(value):
            if sum(char.isdigit() for char in value) < _FEWEST_DIGITS:
                return
            one = replace(one, type="ID_NUMBER")
        if one.type not in _ITS_OWN:
            one = replace(one, score=min(one.score, _AT_MOST))
        yield from without_labels(text, one) if one.type == "STREET_ADDRESS" else (one,)

    def _without_columns(self, text: str, one: Entity) -> Iterator[Entity]:
        """A person or user without the cells or lines beside the name that are made of ordinary words."""
        limit = 1.0 if one.type in _ITS_OWN else _AT_MOST
        cells = [
            (one.start + cell.start(), one.start + cell.end()) for cell in _CELL.finditer(text[one.start : one.end])
        ]
        names = [(start, end) for start, end in cells if not self._ordinary.make_up(text[start:end])]
        for start, end in names if len(names) < len(cells) else [(one.start, one.end)]:
            yield replace(one, start=start, end=end, score=min(one.score, limit))


def _is_technical(text: str, start: int, end: int) -> bool:
    return _GOES_ON.match(text, end) is not None or _PATH.search(text, max(0, start - _BEFORE), start) is not None


def _tokenizer(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{file.name} is no tokenizer this version can read") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _special(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the model was trained to see before and after a text."""
    around = tokenizer.encode("").ids
    half = len(around) // 2
    return around[:half], around[half:]


class _Classes:
    """The model's labels as classes: 0 is none, then `types` in order."""

    def __init__(self, labels: Sequence[str], types: Mapping[str, EntityType]) -> None:
        names = list(dict.fromkeys(label[2:] for label in labels if label != "O"))
        odd = [label for label in labels if label != "O" and label[:2] not in {"B-", "I-"}]
        if not names or odd or labels.count("O") != 1:
            raise ValueError("the model's labels are not of the form O, B-X, I-X")
        if any(name not in types for name in names):
            raise ValueError("the model has a label that is no entity type")
        self.types = [types[name] for name in names]
        self.persons = frozenset(index + 1 for index, one in enumerate(self.types) if one.name == "PERSON")
        self._none = labels.index("O")
        self._begins = [labels.index(f"B-{name}") if f"B-{name}" in labels else -1 for name in names]
        self._inside = [labels.index(f"I-{name}") if f"I-{name}" in labels else -1 for name in names]

    def read(self, logits: Logits) -> list[Labelled]:
        """The class of each token. A token belongs to a class when that is likelier than every other and than none."""
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        # A column of nothing for a label that the model does not have: index -1.
        odds = np.concatenate([odds, np.zeros((len(odds), 1), odds.dtype)], axis=1)
        begins, inside = odds[:, self._begins], odds[:, self._inside]
        classes: NDArray[np.float32] = np.concatenate([odds[:, [self._none]], begins + inside], axis=1)
        best = classes.argmax(axis=1)
        rows = np.arange(len(best))
        score = classes[rows, best]
        at = np.maximum(best - 1, 0)
        opens = (begins[rows, at] > inside[rows, at]) & (best > 0)
        person = classes[:, min(self.persons)] if self.persons else np.zeros(len(best))
        rows_of = zip(best.tolist(), opens.tolist(), score.tolist(), person.tolist(), strict=True)
        return [*map(Labelled._make, rows_of)]
