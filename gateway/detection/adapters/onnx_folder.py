"""Loads an operator's token classification model from a folder that an ONNX exporter wrote.

The folder contains `model.onnx`, `tokenizer.json`, and `config.json` with `id2label` (Hugging Face's layout). Labels
are `O`, and `B-X` and `I-X` or plain `X`. The short names PER, LOC and ORG map to the gateway's types; any other label
becomes a type of its own.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from gateway.detection.ner.engine import LOCATION, ORGANIZATION, TokenClassifier
from gateway.detection.recognizer import EntityType

_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_SHORT_NAMES = {"PER": "PERSON", "LOC": "LOCATION", "GPE": "LOCATION", "ORG": "ORGANIZATION"}


def onnx_folder(folder: Path, known: Mapping[str, EntityType]) -> TokenClassifier:
    """Loads the model in `folder`. `known` are the recognizers' types. Raises OSError or ValueError."""
    labels = _labels(folder / "config.json")
    all_types = {**known, LOCATION.name: LOCATION, ORGANIZATION.name: ORGANIZATION}
    types: dict[str, EntityType] = {}
    for label in labels:
        if label != "O":
            name = _SHORT_NAMES.get(label[2:].upper(), label[2:].upper())
            if _NAME.fullmatch(name) is None:
                raise ValueError("config.json has a label that is not a valid type name; use A-Z, 0-9 and _")
            types[label[2:]] = all_types.get(name) or EntityType(name, "custom", "Found by the operator's model.")
    return TokenClassifier(folder, labels, types, id="onnx", features=False)


def _labels(config: Path) -> list[str]:
    try:
        names = json.loads(config.read_text())["id2label"]
        labels = [str(names[str(index)]) for index in range(len(names))]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("config.json has no valid id2label; its keys must count up from 0") from error
    return [label if label == "O" or label[1:2] == "-" else f"I-{label}" for label in labels]
