"""Finds names, places and organizations with a token classification model.

Implements the same interface as the recognizers; `resolve_overlaps` merges findings of both.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import batched, islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from gateway.concurrency.job_context import given_up
from gateway.detection.memory import Recall
from gateway.detection.ner.address_labels import without_labels
from gateway.detection.ner.blocks import MAX_LENGTH, Block, blocks
from gateway.detection.ner.cascade import Flags, doubtful, near_named, second_readings
from gateway.detection.ner.given_names import MIN_PERSON, label_given_names
from gateway.detection.ner.inference import Inference, Input, Logits
from gateway.detection.ner.ordinary_words import OrdinaryWords, WordList
from gateway.detection.ner.other_scripts import in_other_scripts, known, without_unknown
from gateway.detection.ner.spans import TokenLabel, label_spans, to_words
from gateway.detection.ner.student import Student
from gateway.detection.ner.windows import Tokens, Window, tokenize, windows
from gateway.detection.ner.word_pieces import WordPieces
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
_NO_LABEL = TokenLabel(0, False, 1.0)
_MIN_SCORE = 0.5
_TOGETHER = 32
"""Blocks that are read together: few enough for the memory, and to end soon once nobody waits for them."""
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
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
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
        self._weights = hashlib.sha256(model)
        self.hash = self._weights.hexdigest()
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

    def detect(self, text: str, recall: Recall | None = None) -> tuple[Entity, ...]:
        """Returns the candidates in a text, sorted and disjoint. Blocks while the model runs.

        Blocks of a long text that `recall` knows are not read again. Raises Unavailable (`detection_failed`,
        `detection_timeout`) if the model did not process the whole text.
        """
        if len(text) <= MAX_LENGTH:
            recall = None  # the caller remembers whole texts itself
        found: list[Entity] = []
        for some in batched(blocks(text), _TOGETHER):
            if given_up():
                raise Unavailable("The request was cancelled; nothing was sent.", code="detection_timeout")
            for block, entities in zip(some, self._remembered(text, some, recall), strict=True):
                found += _own(text, block, entities, found[-1].end if found else 0)
        return tuple(found)

    def _remembered(self, text: str, some: Sequence[Block], recall: Recall | None) -> Iterable[tuple[Entity, ...]]:
        """Returns what is in each block with its context, reading those that `recall` does not know."""
        parts = [text[one.first : one.last] for one in some]
        if recall is None:
            return self._read_texts(parts)
        before = self.version.encode()
        digests = [recall.digest(before, [part]) for part in parts]
        known: dict[bytes, tuple[Entity, ...] | None] = {digest: recall.get(digest) for digest in digests}
        new = {digest: part for digest, part in zip(digests, parts, strict=True) if known[digest] is None}
        for digest, entities in zip(new, self._read_texts([*new.values()]), strict=True):
            recall.put(digest, entities, len(entities))
            known[digest] = entities
        return [known[digest] or () for digest in digests]

    def _read_texts(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Returns what is in each text."""
        tokens = [self._tokens(text) for text in texts]
        return [tuple(self._entities(*each)) for each in zip(texts, tokens, self._logits(texts, tokens), strict=True)]

    def _entities(self, text: str, tokens: Tokens, logits: Logits) -> Iterator[Entity]:
        labels = self._correct_labels(text, tokens, self._classes.classify(logits))
        for piece in label_spans(text, tokens.offsets, labels, persons=self._classes.persons):
            if piece.score >= _MIN_SCORE:
                name = self._classes.types[piece.label_class - 1].name
                yield from self._correct(text, Entity(name, piece.start, piece.end, round(piece.score, 2), self._id))

    def _tokens(self, text: str) -> Tokens:
        return tokenize(self._tokenizer, text, features=self._features)

    def _correct_labels(self, text: str, tokens: Tokens, labels: list[TokenLabel]) -> list[TokenLabel]:
        """Hook for subclasses to correct the model's labels."""
        return labels

    def _correct(self, text: str, one: Entity) -> Iterable[Entity]:
        """Hook for subclasses to correct an entity."""
        return (one,)

    def _logits(self, texts: Sequence[str], tokens: Sequence[Tokens]) -> list[Logits]:
        """Returns the logits `[tokens, labels]` of each text."""
        joined = [np.empty((len(each), self._classes.labels), np.float32) for each in tokens]
        self._read(tokens, [list(windows(len(each))) if each else [] for each in tokens], joined)
        return joined

    def _read(self, tokens: Sequence[Tokens], pieces: Sequence[Sequence[Window]], results: Sequence[Logits]) -> None:
        """Runs the windows `pieces` of each text, and writes what they are to give into the text's `results`."""
        inputs = [self._input(each, piece) for each, own in zip(tokens, pieces, strict=True) for piece in own]
        logits = iter(self._inference.logits(inputs))
        shift = len(self._leading)
        for own, result in zip(pieces, results, strict=True):
            for piece, one in zip(own, islice(logits, len(own)), strict=True):
                kept = slice(shift + piece.kept_first - piece.first, shift + piece.kept_last - piece.first)
                result[piece.kept_first : piece.kept_last] = one[kept]

    def _input(self, tokens: Tokens, window: Window) -> Input:
        part = slice(window.first, window.last)
        types = (
            (*(0 for _ in self._leading), *tokens.types[part], *(0 for _ in self._trailing)) if self._features else ()
        )
        return Input((*self._leading, *tokens.ids[part], *self._trailing), types)


class BuiltinModel(TokenClassifier):
    """The model that ships with the gateway. `known` are the recognizers' types."""

    def __init__(self, known: Mapping[str, EntityType], *, threads: int = 1, timeout: float = 10.0) -> None:
        labels = json.loads((MODEL / "labels.json").read_text())
        types = {"LOCATION": LOCATION, "ORGANIZATION": ORGANIZATION}
        types |= {label: known[name] for label, name in _RECOGNIZER_TYPES.items() if name in known}
        super().__init__(MODEL, labels, types, id="names", features=True, threads=threads, timeout=timeout)
        student = (MODEL / "student.onnx").read_bytes()
        self._student = Student(student)
        self._pieces = WordPieces(MODEL / "tokenizer.json")
        self._weights.update(student)
        self.hash = self._weights.hexdigest()
        self.version = f"names+{self.hash[:12]}"
        self._loose = [number for number, one in enumerate(self._classes.types, 1) if one in {LOCATION, ORGANIZATION}]
        self._ordinary = OrdinaryWords(MODEL / "ordinary.txt")
        self._given = WordList(MODEL / "given.txt")
        self.version = f"{self.version}.{self._ordinary.version}.{self._given.version}"

    def _tokens(self, text: str) -> Tokens:
        plain = self._pieces.encode(text)
        tokens = super()._tokens(text) if plain is None else Tokens(*plain)
        return without_unknown(text, tokens)

    def _input(self, tokens: Tokens, window: Window) -> Input:
        read = super()._input(tokens, window)
        return replace(read, ids=known(read.ids))

    def _logits(self, texts: Sequence[str], tokens: Sequence[Tokens]) -> list[Logits]:
        """Has the student read everything, and the transformer what the student doubts."""
        results = [
            self._student.logits(each) if each else np.empty((0, self._classes.labels), np.float32) for each in tokens
        ]
        students = [in_other_scripts(*each) for each in zip(texts, tokens, strict=True)]
        own = [result[alone] for result, alone in zip(results, students, strict=True)]
        pieces = [self._second_readings(*each) for each in zip(texts, tokens, results, students, strict=True)]
        if any(pieces):
            self._read(tokens, pieces, results)
        for result, alone, logits in zip(results, students, own, strict=True):
            result[alone] = logits
        return results

    def _second_readings(self, text: str, tokens: Tokens, logits: Logits, alone: Flags) -> list[Window]:
        chances = self._classes.chances(logits)
        doubts, named = doubtful(chances, self._loose) & ~alone, chances.argmax(axis=1) > 0
        self._drop_moot(text, tokens, doubts, near_named(named))
        return second_readings(doubts, named)

    def _drop_moot(self, text: str, tokens: Tokens, doubts: Flags, near: Flags) -> None:
        """Drops doubts whose decision changes nothing: about parts of e-mail addresses, and about ordinary words with
        no name nearby.
        """
        addresses = [one.span() for one in _EMAIL.finditer(text)] if "@" in text else []
        for index in np.flatnonzero(doubts).tolist():
            start, end = tokens.offsets[index]
            if any(first <= start and end <= last for first, last in addresses):
                doubts[index] = False
            elif not near[index]:
                doubts[index] = not self._ordinary.covers(text[slice(*to_words(text, start, end))])

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


def _own(text: str, block: Block, entities: Iterable[Entity], after: int) -> Iterator[Entity]:
    """Yields what is in a block and comes after `after`, with its place in the whole text.

    What reaches into the block from the one before, or out of it, is whole; both may have found it, or one alone.
    """
    for one in entities:
        start, end = block.first + one.start, block.first + one.end
        if start < after:
            start = next((at for at in range(after, end) if text[at].isalnum()), end)
        if start < min(block.end, end) and end > block.start:
            yield replace(one, start=start, end=end)


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
        self.labels = len(labels)
        self.persons = frozenset(index + 1 for index, one in enumerate(self.types) if one.name == "PERSON")
        self._none = labels.index("O")
        self._begins = [labels.index(f"B-{name}") if f"B-{name}" in labels else -1 for name in names]
        self._inside = [labels.index(f"I-{name}") if f"I-{name}" in labels else -1 for name in names]

    def chances(self, logits: Logits) -> NDArray[np.float32]:
        """Returns the probability of each class, `[tokens, classes]`."""
        classes, _, _ = self._chances(logits)
        return classes

    def classify(self, logits: Logits) -> list[TokenLabel]:
        """Returns the most likely class of each token."""
        classes, begins, inside = self._chances(logits)
        best = classes.argmax(axis=1)
        person = classes[:, min(self.persons)] if self.persons else np.zeros(len(best))
        # Most tokens are none of anything, and nobody asks how surely.
        labels = [_NO_LABEL] * len(best)
        for row in np.flatnonzero((best > 0) | (person >= MIN_PERSON)).tolist():
            label = int(best[row])
            opens = label > 0 and bool(begins[row, label - 1] > inside[row, label - 1])
            labels[row] = TokenLabel(label, opens, float(classes[row, label]), float(person[row]))
        return labels

    def _chances(self, logits: Logits) -> tuple[Logits, Logits, Logits]:
        """Returns the probabilities of the classes, and of the types' B and I labels, `[tokens, types]`."""
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        # Index -1 reads as probability 0, for labels that the model does not have.
        odds = np.concatenate([odds, np.zeros((len(odds), 1), odds.dtype)], axis=1)
        begins, inside = odds[:, self._begins], odds[:, self._inside]
        return np.concatenate([odds[:, [self._none]], begins + inside], axis=1), begins, inside
