"""Runs a model folder as the engine may: windows, logits, labels, spans in code points. The reference for measuring."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.features import token_types

WORD = re.compile(r"\w")
WORDS = re.compile(r"[^\W_]+")
POSSESSIVE = re.compile(r"['’]s?$")
EDGES = " \t\n.,;:!?\"'’“”()[]<>|*_-–/\\"
KEPT_END = re.compile(r"\b(?:\w\.|Jr\.|Sr\.|Inc\.|Ltd\.|Co\.|Corp\.|St\.|Ave\.|Rd\.|Blvd\.|Dr\.|Ln\.)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """A span with its type and the mean probability of its tokens."""

    start: int
    end: int
    label: str
    score: float


class Artefact:
    """``model.onnx``, ``tokenizer.json``, ``labels.json`` and ``ordinary.txt`` of a folder, on one thread."""

    def __init__(self, folder: Path, window: int = 128, overlap: int = 32) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.labels: list[str] = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
        ordinary = folder / "ordinary.txt"
        self.ordinary = frozenset(ordinary.read_text(encoding="utf-8").split()) if ordinary.exists() else frozenset()
        self.window, self.overlap = window, overlap

    def probabilities(self, text: str) -> tuple[list[tuple[int, int]], NDArray[np.float32]]:
        """Offsets and label probabilities of the text's tokens; an overlap is halved between its windows."""
        encoding = self.tokenizer.encode(text, add_special_tokens=False)
        ids, offsets = encoding.ids, encoding.offsets
        types = token_types(text, offsets)
        room = self.window - 2
        result = np.zeros((len(ids), len(self.labels)), np.float32)
        start = 0
        while start < len(ids):
            end = min(start + room, len(ids))
            row = np.array([[101, *ids[start:end], 102]], np.int64)
            kinds = np.array([[0, *types[start:end], 0]], np.int64)
            feed = {"input_ids": row, "token_type_ids": kinds}
            logits = self.session.run(None, feed)[0][0][1:-1]
            shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
            skip = self.overlap // 2 if start else 0
            result[start + skip : end] = (shifted / shifted.sum(axis=1, keepdims=True))[skip:]
            if end == len(ids):
                break
            start = end - self.overlap
        return offsets, result

    def spans(self, text: str, least: float = 0.0) -> list[Found]:
        """Spans of at least ``least``: whole words, edges and possessives trimmed; no person made of ordinary words."""
        offsets, chances = self.probabilities(text)
        found = decode(text, offsets, chances, self.labels)
        return [f for f in found if f.score >= least and not self._is_ordinary(text, f)]

    def _is_ordinary(self, text: str, found: Found) -> bool:
        words = WORDS.findall(text[found.start : found.end].lower())
        return found.label == "PERSON" and all(len(word) == 1 or word in self.ordinary for word in words)


def decode(text: str, offsets: list[tuple[int, int]], chances: NDArray[np.float32], labels: list[str]) -> list[Found]:
    """Labels to spans; a word takes the type with the greatest mean over its pieces, B and I taken together."""
    names = [label[2:] if label != "O" else "" for label in labels]
    kinds = sorted(set(names))
    folded = np.stack([chances[:, [i for i, n in enumerate(names) if n == kind]].sum(axis=1) for kind in kinds], axis=1)
    begins = {kind: labels.index(f"B-{kind}") for kind in kinds if kind}
    words: list[tuple[int, int]] = []
    for index, (start, _) in enumerate(offsets):
        glued = index > 0 and start == offsets[index - 1][1] and WORD.match(text[start]) and WORD.match(text[start - 1])
        if glued:
            words[-1] = (words[-1][0], index + 1)
        else:
            words.append((index, index + 1))
    runs: list[tuple[int, int, str]] = []
    for low, high in words:
        mean = folded[low:high].mean(axis=0)
        kind = kinds[int(mean.argmax())]
        if not kind:
            continue
        begin = chances[low, begins[kind]] > 0.5 * folded[low, kinds.index(kind)]
        if runs and runs[-1][2] == kind and runs[-1][1] == low and not begin:
            runs[-1] = (runs[-1][0], high, kind)
        else:
            runs.append((low, high, kind))
    found: list[Found] = []
    for low, high, kind in runs:
        start, end = trim(text, offsets[low][0], offsets[high - 1][1])
        if end > start:
            score = float(folded[low:high, kinds.index(kind)].mean())
            found.append(Found(start, end, kind, score))
    return found


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without punctuation at its edges, without a possessive, but with the stop of an abbreviation."""
    while start < end and text[start] in EDGES:
        start += 1
    while end > start and text[end - 1] in EDGES and not KEPT_END.search(text[start:end]):
        end -= 1
    if end - start > 2 and (match := POSSESSIVE.search(text[start:end])):
        end = start + match.start()
    return start, end
