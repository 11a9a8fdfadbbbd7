"""Finds names, places and organizations with a token classification model.

Implements the same interface as the recognizers; `resolve_overlaps` merges findings of both.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched, islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
from tokenizers import Tokenizer

from gateway.concurrency.job_context import given_up
from gateway.detection.memory import Recall
from gateway.detection.ner.blocks import MAX_LENGTH, Block, blocks
from gateway.detection.ner.classes import Classes
from gateway.detection.ner.inference import Inference, Input, Logits, odds
from gateway.detection.ner.spans import TokenLabel, label_spans
from gateway.detection.ner.units import Units
from gateway.detection.ner.windows import Tokens, Window, tokenize, windows
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity

LOCATION = EntityType("LOCATION", "address", "A city, region, country or other place.")
ORGANIZATION = EntityType("ORGANIZATION", "organization", "A company, authority, team or other organization.")

_MIN_SCORE = 0.5
_TOGETHER = 32
"""Blocks that are read together: few enough for the memory, and to end soon once nobody waits for them."""


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
        self._classes = Classes(labels, types)
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

    def _tokens(self, text: str) -> Tokens:
        return tokenize(self._tokenizer, text, features=self._features)

    def _correct_labels(
        self, text: str, offsets: Sequence[tuple[int, int]], labels: dict[int, TokenLabel]
    ) -> dict[int, TokenLabel]:
        """Hook for subclasses to correct the model's labels."""
        return labels

    def _correct(self, text: str, one: Entity) -> Iterable[Entity]:
        """Hook for subclasses to correct an entity."""
        return (one,)

    def _logits(self, tokens: Sequence[Tokens]) -> list[Logits]:
        """Returns the logits `[tokens, labels]` of each text."""
        pieces = [list(windows(len(each))) if each else [] for each in tokens]
        inputs = [self._input(each, piece) for each, own in zip(tokens, pieces, strict=True) for piece in own]
        read = iter(self._inference.logits(inputs))
        shift, joined = len(self._leading), []
        for each, own in zip(tokens, pieces, strict=True):
            result = np.empty((len(each), self._classes.labels), np.float32)
            for piece, logits in zip(own, islice(read, len(own)), strict=True):
                kept = slice(shift + piece.kept_first - piece.first, shift + piece.kept_last - piece.first)
                result[piece.kept_first : piece.kept_last] = logits[kept]
            joined.append(result)
        return joined

    def _input(self, tokens: Tokens, window: Window) -> Input:
        part = slice(window.first, window.last)
        types = (
            (*(0 for _ in self._leading), *tokens.types[part], *(0 for _ in self._trailing)) if self._features else ()
        )
        return Input((*self._leading, *tokens.ids[part], *self._trailing), types)


def _own(text: str, block: Block, entities: Iterable[Entity], after: int) -> Iterator[Entity]:
    """Yields what is in a block and comes after `after`, with its place in the whole text.

    What reaches into the block from the one before, or out of it, is whole; both may have found it, or one alone.
    """
    for one in entities:
        start, end = block.first + one.start, block.first + one.end
        if start < after:
            start = next((at for at in range(after, end) if text[at].isalnum()), end)
        if start < min(block.end, end) and end > block.start:
            yield one._replace(start=start, end=end)


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
