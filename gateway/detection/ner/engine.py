"""Finds names, places and organizations with a token classification model.

Implements the same interface as the recognizers; `resolve_overlaps` merges findings of both.
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
from gateway.detection.ner.address_labels import without_labels
from gateway.detection.ner.given_names import label_given_names
from gateway.detection.ner.inference import Inference, Input, Logits
from gateway.detection.ner.ordinary_words import OrdinaryWords, WordList
from gateway.detection.ner.spans import TokenLabel, label_spans
from gateway.detection.ner.windows import Tokens, Window, split_text, tokenize, windows
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity

MODEL = Path(__file__).parent / "model"

LOCATION = EntityType("LOCATION", "address", "A city, region, country or other place.")
ORGANIZATION = EntityType("ORGANIZATION", "organization", "A company, authority, team or other organization.")

# Label of the model -> the recognizers' type for the same thing.
_RECOGNIZER_TYPES = {
    "PERSON": "PERSON",
    "ADDRESS": "STREET_ADDRESS",
    "DATE_OF_BIRTH": "DATE_OF_BIRTH",
    "AGE": "AGE",
    "USERNAME": "USERNAME",
    "MEDICAL_RECORD": "MEDICAL_RECORD_NUMBER",
    "ID": "ID_NUMBER",
}
_MIN_SCORE = 0.5
# Types that the model decides. For all others its score is capped, so that a recognizer with a more specific type wins.
_PRIMARY_TYPES = frozenset({"PERSON", "LOCATION", "ORGANIZATION", "STREET_ADDRESS"})
_MAX_SECONDARY_SCORE = 0.55
_WORD_TYPES = frozenset({"PERSON", "USERNAME"})
_DIGIT_TYPES = frozenset({"MEDICAL_RECORD_NUMBER", "ID_NUMBER"})
# Commits, colours and error codes.
_HEX = re.compile(r"0x[0-9A-Fa-f]+|(?=\d*[a-f])[0-9a-f]{6,12}")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_CELL = re.compile(r"[^\s\u00a0]+(?:[ \u00a0][^\s\u00a0]+)*")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_MIN_DIGITS = 6
# A medicine with its dose resembles a street with its number.
_DOSE = re.compile(r"\d ?(?:mg|mcg|µg|ml|UI|IE|IU)\b")
# Directly before or after a word, these make it part of a path, command, address or program identifier.
_CODE_PREFIX = re.compile(r"(?:~/|\.\w{0,5}/|\b(?:bin|etc|usr|lib|opt|var|tmp|src|dev)/|\w-)\Z")
_BEFORE = 8
# "LLM", "EOF" and "MUST" resemble a name in capitals, about which the model is surer.
_ACRONYM = re.compile(r"[A-Z]{3,4}")
_MIN_ACRONYM_SCORE = 0.9
# `result.isReal`
_MEMBER = re.compile(r"\.[a-z]+[A-Z]\w*")
# Packages and colours: `"@scope/name"`, `@scope/its-name`, `#00aaff`
_NO_MENTIONS = (
    re.compile(r"(?<=[\"'`(\[/])@[\w.-]+/\w"),
    re.compile(r"(?<!\w)@[\w.-]+/\w+-\w"),
    re.compile(r"#(?=[A-Fa-f]*\d)[0-9A-Fa-f]{3,8}\b"),
)
_CODE_SUFFIX = re.compile(r"://|[.(]\w|-\w|\(\)")


class TokenClassifier:
    """Runs an ONNX model with its tokenizer: `model.onnx` and `tokenizer.json` in a folder.

    `labels` are the model's output labels in order: `O`, and `B-X` and `I-X` (or `I-X` alone). `types` maps each `X` to
    an entity type. With `features`, the model takes case and gap as token types (features.py). Raises OSError or
    ValueError if the folder does not contain such a model.
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
        self._leading, self._trailing = _special_tokens(self._tokenizer)
        self._inference = Inference(model, threads=threads, timeout=timeout)

    def close(self) -> None:
        """Stops the model's threads."""
        self._inference.close()

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Returns the candidates in a text, sorted and disjoint. Blocks while the model runs.

        Raises Unavailable (`detection_failed`, `detection_timeout`) if the model did not process the whole text.
        """
        found: list[Entity] = []
        for start, end in split_text(text):
            if given_up():
                raise Unavailable("The request was cancelled; nothing was sent.", code="detection_timeout")
            found += self._detect(text[start:end], start)
        return tuple(found)

    def _detect(self, text: str, offset: int) -> Iterator[Entity]:
        tokens = tokenize(self._tokenizer, text, features=self._features)
        if not tokens:
            return
        pieces = list(windows(len(tokens)))
        logits = self._inference.logits([self._input(tokens, piece) for piece in pieces])
        labels = self._correct_labels(text, tokens, self._classes.classify(self._join_logits(pieces, logits)))
        for piece in label_spans(text, tokens.offsets, labels, persons=self._classes.persons):
            if piece.score >= _MIN_SCORE:
                name = self._classes.types[piece.label_class - 1].name
                yield Entity(name, offset + piece.start, offset + piece.end, round(piece.score, 2), self._id)

    def _correct_labels(self, text: str, tokens: Tokens, labels: list[TokenLabel]) -> list[TokenLabel]:
        """Hook for subclasses to correct the model's labels."""
        return labels

    def _input(self, tokens: Tokens, window: Window) -> Input:
        part = slice(window.first, window.last)
        types = (
            (*(0 for _ in self._leading), *tokens.types[part], *(0 for _ in self._trailing)) if self._features else ()
        )
        return Input((*self._leading, *tokens.ids[part], *self._trailing), types)

    def _join_logits(self, pieces: Sequence[Window], logits: Sequence[Logits]) -> Logits:
        """Joins the windows' logits, taking each token from the window that gives it more context."""
        shift = len(self._leading)
        return np.concatenate(
            [
                one[shift + piece.kept_first - piece.first : shift + piece.kept_last - piece.first]
                for piece, one in zip(pieces, logits, strict=True)
            ]
        )


class BuiltinModel(TokenClassifier):
    """The model that ships with the gateway. `known` are the recognizers' types."""

    def __init__(self, known: Mapping[str, EntityType], *, threads: int = 1, timeout: float = 10.0) -> None:
        labels = json.loads((MODEL / "labels.json").read_text())
        types = {"LOCATION": LOCATION, "ORGANIZATION": ORGANIZATION}
        types |= {label: known[name] for label, name in _RECOGNIZER_TYPES.items() if name in known}
        super().__init__(MODEL, labels, types, id="names", features=True, threads=threads, timeout=timeout)
        self._ordinary = OrdinaryWords(MODEL / "ordinary.txt")
        self._given = WordList(MODEL / "given.txt")
        self.version = f"{self.version}.{self._ordinary.version}.{self._given.version}"

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Returns the candidates in a text, sorted and disjoint; see TokenClassifier."""
        return tuple(part for one in super().detect(text) for part in self._correct(text, one))

    def _correct_labels(self, text: str, tokens: Tokens, labels: list[TokenLabel]) -> list[TokenLabel]:
        (person,) = self._classes.persons
        return label_given_names(
            text, tokens.offsets, labels, names=self._given, ordinary=self._ordinary, person=person
        )

    def _correct(self, text: str, one: Entity) -> Iterator[Entity]:
        """Corrects the model's typical errors: drops ordinary words, labels and plain numbers from an entity."""
        value = text[one.start : one.end]
        if one.type == "USERNAME" and _is_technical(text, one.start, one.end):
            return
        if one.type in _WORD_TYPES and self._is_programs(text, one):
            return
        is_acronym = one.type == "PERSON" and one.score < _MIN_ACRONYM_SCORE and _ACRONYM.fullmatch(value)
        if is_acronym and value.lower() not in self._given:
            one = replace(one, type="ORGANIZATION")
        if one.type in _WORD_TYPES:
            yield from self._without_ordinary_cells(text, one)
            return
        if one.type in _DIGIT_TYPES and (not any(char.isdigit() for char in value) or _HEX.fullmatch(value)):
            return
        if one.type in _DIGIT_TYPES and _is_in_uuid(text, one.start, one.end):
            return
        if one.type == "STREET_ADDRESS" and value.islower() and value.isalpha() and value in self._ordinary:
            return
        if one.type == "STREET_ADDRESS" and _DOSE.search(value):
            return
        if one.type == "STREET_ADDRESS" and not _LETTERS.search(value):
            if sum(char.isdigit() for char in value) < _MIN_DIGITS:
                return
            one = replace(one, type="ID_NUMBER")
        if one.type not in _PRIMARY_TYPES:
            one = replace(one, score=min(one.score, _MAX_SECONDARY_SCORE))
        yield from without_labels(text, one) if one.type == "STREET_ADDRESS" else (one,)

    def _is_programs(self, text: str, one: Entity) -> bool:
        """Whether a person or user name is a word of programs: an identifier, the scope of a package, a colour."""
        value, before = text[one.start : one.end], max(0, one.start - 1)
        if text[before] in "@#":
            return any(word.match(text, before) for word in _NO_MENTIONS)
        # With a capital, many people choose such words as their user names.
        if one.type == "USERNAME" and not value[0].islower():
            return False
        return self._ordinary.is_identifier(value) or _MEMBER.fullmatch(text, before, one.end) is not None

    def _without_ordinary_cells(self, text: str, one: Entity) -> Iterator[Entity]:
        """Removes neighbouring cells and lines of ordinary words from a person or user name."""
        limit = 1.0 if one.type in _PRIMARY_TYPES else _MAX_SECONDARY_SCORE
        cells = [
            (one.start + cell.start(), one.start + cell.end()) for cell in _CELL.finditer(text[one.start : one.end])
        ]
        names = [(start, end) for start, end in cells if not self._ordinary.covers(text[start:end])]
        for start, end in names if len(names) < len(cells) else [(one.start, one.end)]:
            yield replace(one, start=start, end=end, score=min(one.score, limit))


def _is_technical(text: str, start: int, end: int) -> bool:
    return (
        _CODE_SUFFIX.match(text, end) is not None
        or _CODE_PREFIX.search(text, max(0, start - _BEFORE), start) is not None
    )


def _is_in_uuid(text: str, start: int, end: int) -> bool:
    """Whether a span is a part of a UUID, which the recognizers judge as a whole."""
    around = _UUID.finditer(text, max(0, start - 36), end + 36)
    return any(one.start() <= start and end <= one.end() and one.end() - one.start() > end - start for one in around)


def _tokenizer(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{file.name} is not a tokenizer file that this version can read") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Returns the special tokens that the model expects before and after a text."""
    around = tokenizer.encode("").ids
    half = len(around) // 2
    return around[:half], around[half:]


class _Classes:
    """Maps the model's labels to classes: 0 for none, then `types` in order."""

    def __init__(self, labels: Sequence[str], types: Mapping[str, EntityType]) -> None:
        names = list(dict.fromkeys(label[2:] for label in labels if label != "O"))
        odd = [label for label in labels if label != "O" and label[:2] not in {"B-", "I-"}]
        if not names or odd or labels.count("O") != 1:
            raise ValueError("the model's labels do not have the form O, B-X, I-X")
        if any(name not in types for name in names):
            raise ValueError("the model has a label without an entity type")
        self.types = [types[name] for name in names]
        self.persons = frozenset(index + 1 for index, one in enumerate(self.types) if one.name == "PERSON")
        self._none = labels.index("O")
        self._begins = [labels.index(f"B-{name}") if f"B-{name}" in labels else -1 for name in names]
        self._inside = [labels.index(f"I-{name}") if f"I-{name}" in labels else -1 for name in names]

    def classify(self, logits: Logits) -> list[TokenLabel]:
        """Returns the most likely class of each token."""
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        # Index -1 reads as probability 0, for labels that the model does not have.
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
        return [*map(TokenLabel._make, rows_of)]
