"""A token-classification model of the operator's own: a folder as exporters for ONNX write it.

`model.onnx`, `tokenizer.json`, and `config.json` with `id2label` (Hugging Face's layout). Labels are `O`, and `B-X` and
`I-X` or plain `X`; the usual short names (PER, LOC, ORG) stand for types of the gateway, every other is a type of its
own.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from gateway.detection.ner import TokenClassifier
from gateway.detection.ner.types import LOCATION, ORGANIZATION
from gateway.detection.recognizer import EntityType

_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_SHORT = {"PER": "PERSON", "LOC": "LOCATION", "GPE": "LOCATION", "ORG": "ORGANIZATION"}


def onnx_folder(folder: Path, known: Mapping[str, EntityType], *, threads: int, timeout: float) -> TokenClassifier:
    """The model of a folder. `known` are the recognizers' types. Raises OSError or ValueError, which name the file."""
    labels = _labels(folder / "config.json")
    every = {**known, LOCATION.name: LOCATION, ORGANIZATION.name: ORGANIZATION}
    types: dict[str, EntityType] = {}
    for label in labels:
        if label != "O":
            name = _SHORT.get(label[2:].upper(), label[2:].upper())
            if _NAME.fullmatch(name) is None:
                raise ValueError("config.json has a label that cannot be the name of a type")
            types[label[2:]] = every.get(name) or EntityType(name, "custom", "Found by the operator's own model.")
    return TokenClassifier(folder, labels, types, id="onnx", features=False, threads=threads, timeout=timeout)


def _labels(config: Path) -> list[str]:
    try:
        written = json.loads(config.read_text())["id2label"]
        labels = [str(written[str(index)]) for index in range(len(written))]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("config.json has no id2label from 0 on") from error
    return [label if label == "O" or label[1:2] == "-" else f"I-{label}" for label in labels]
