"""Loads an operator's token classification model from a folder that an ONNX exporter wrote.

The folder contains `model.onnx`, `tokenizer.json`, and `config.json` with `id2label` (Hugging Face's layout). Labels
are `O`, and `B-X` and `I-X` or plain `X`. The short names PER, LOC and ORG map to the gateway's types; any other label
becomes a type of its own.

The library that reads `tokenizer.json` is not among the gateway's dependencies: it brings a client that downloads.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.detection.ner.engine import TokenClassifier, Tokens
from gateway.detection.ner.label_decoder import LOCATION, ORGANIZATION
from gateway.detection.recognizer import EntityType

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_SHORT_NAMES = {"PER": "PERSON", "LOC": "LOCATION", "GPE": "LOCATION", "ORG": "ORGANIZATION"}


def onnx_folder(folder: Path, known: Mapping[str, EntityType]) -> "OnnxFolder":
    """Loads the model in `folder`. `known` are the recognizers' types. Raises ValueError if it cannot be loaded."""
    try:
        labels = _labels(folder / "config.json")
        return OnnxFolder(folder, labels, _types(labels, known))
    except (OSError, RuntimeError) as error:
        raise ValueError("a file in the folder is missing or unreadable") from error


def _types(labels: Iterable[str], known: Mapping[str, EntityType]) -> Mapping[str, EntityType]:
    all_types = {**known, LOCATION.name: LOCATION, ORGANIZATION.name: ORGANIZATION}
    types: dict[str, EntityType] = {}
    for label in labels:
        if label != "O":
            name = _SHORT_NAMES.get(label[2:].upper(), label[2:].upper())
            if _NAME.fullmatch(name) is None:
                raise ValueError("config.json has a label that is not a valid type name; use A-Z, 0-9 and _")
            types[label[2:]] = all_types.get(name) or EntityType(name, "custom", "Found by the operator's model.")
    return types


class OnnxFolder(TokenClassifier):
    """A model with the tokenizer next to it."""

    def __init__(self, folder: Path, labels: Sequence[str], types: Mapping[str, EntityType]) -> None:
        self._vocabulary = (folder / "tokenizer.json").read_bytes()
        super().__init__(folder, labels, types, id="onnx", special=_special_tokens(self._tokenizer))

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        return _tokenizer(self._vocabulary)

    def rest(self) -> None:
        """Gives up the tokenizer, which takes megabytes."""
        self.__dict__.pop("_tokenizer", None)

    def _tokens(self, text: str) -> Tokens:
        # Unlike `encode`, this releases the interpreter lock.
        (encoding,) = self._tokenizer.encode_batch([text], add_special_tokens=False)
        return Tokens(encoding.ids, (), encoding.offsets)


def _tokenizer(content: bytes) -> "Tokenizer":
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise ValueError(
            "the package `tokenizers` is not installed; add it to the gateway's environment with"
            " `pip install --no-deps 'tokenizers>=0.21,<1'`"
        ) from None
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError("tokenizer.json is not a tokenizer file that this version can read") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _special_tokens(tokenizer: "Tokenizer") -> tuple[list[int], list[int]]:
    """Returns the special tokens that the model expects before and after a text."""
    around = tokenizer.encode("").ids
    half = len(around) // 2
    return around[:half], around[half:]


def _labels(config: Path) -> list[str]:
    try:
        names = json.loads(config.read_text())["id2label"]
        labels = [str(names[str(index)]) for index in range(len(names))]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("config.json has no valid id2label; its keys must count up from 0") from error
    return [label if label == "O" or label[1:2] == "-" else f"I-{label}" for label in labels]
