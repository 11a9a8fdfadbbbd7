"""Reads the labelled files: which document trains, which is held out, and what its labels mean here.

Trained on: wnut17.train, btc.train, crossner_*.train, and four fifths of wikigold (by hash of the document's id).
Never trained on: every ``*.dev`` file and wikigold's other fifth.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.features import Span

COMMON = {"PERSON", "LOCATION", "ORGANIZATION", "ADDRESS"}
HANDLE = re.compile(r"(?<![\w@.])@\w{2,30}\b")
DIGITS = re.compile(r"\S*\d\S*")
SENTENCES = re.compile(r"\n+")


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its spans ``(start, end, type)`` and stretches whose label is unknown."""

    text: str
    spans: tuple[Span, ...]
    ignored: tuple[tuple[int, int], ...] = ()


def held_out(document_id: str) -> bool:
    """True for the fifth of wikigold that only measures."""
    return hashlib.sha256(document_id.encode()).digest()[0] % 5 == 0


def rows(path: Path) -> Iterator[dict[str, object]]:
    """The file's documents as they stand."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def label_map(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Original label to common type and action, by corpus."""
    stored: dict[str, dict[str, dict[str, str]]] = json.loads((folder / "label_map.json").read_text(encoding="utf-8"))
    return stored


def _read(path: Path, labels: dict[str, dict[str, str]], social: bool) -> Iterator[Document]:
    for row in rows(path):
        if path.name.startswith("wikigold") and held_out(str(row["id"])):
            continue
        text = str(row["text"])
        spans: list[Span] = []
        ignored: list[tuple[int, int]] = []
        handles = [m.span() for m in HANDLE.finditer(text)] if social else []
        spans.extend((start, end, "USERNAME") for start, end in handles)
        for span in row["spans"]:  # type: ignore[attr-defined]
            start, end = int(span["start"]), int(span["end"])
            if any(start < right and left < end for left, right in handles):
                continue
            meaning = labels.get(span["label"], labels.get("*", {"common": "MISC", "action": "keep"}))
            if meaning["action"] == "ignore":
                ignored.append((start, end))
            elif meaning["common"] in COMMON and not text.startswith("@", start, end):
                spans.append((start, end, meaning["common"]))
        # These corpora mark no identifiers, ages or dates of birth: what a figure means is unknown.
        ignored.extend(m.span() for m in DIGITS.finditer(text))
        yield from _sentences(Document(text, tuple(sorted(spans)), tuple(ignored)))


def _sentences(document: Document, limit: int = 420) -> Iterator[Document]:
    """Pieces of at most about ``limit`` characters, cut at line breaks."""
    start = 0
    breaks = [m.end() for m in SENTENCES.finditer(document.text)] + [len(document.text)]
    for position, end in enumerate(breaks):
        last = position == len(breaks) - 1
        if not last and breaks[position + 1] - start <= limit:
            continue
        if end > start:
            yield cut(document, start, end)
        start = end


def cut(document: Document, start: int, end: int) -> Document:
    """The part of a document between two offsets; spans that cross them are dropped."""
    return Document(
        document.text[start:end],
        tuple((a - start, b - start, name) for a, b, name in document.spans if a >= start and b <= end),
        tuple((max(a, start) - start, min(b, end) - start) for a, b in document.ignored if a < end and b > start),
    )


@dataclass(frozen=True, slots=True)
class Labelled:
    """The documents of a corpus and how often a helping of training text holds each of them on average."""

    documents: tuple[Document, ...]
    share: float


def training_corpora(folder: Path) -> list[Labelled]:
    """Everything labelled that may be trained on."""
    labels = label_map(folder)
    return [
        Labelled(tuple(_read(folder / f"{name}.jsonl", labels[key], social=key in {"wnut17", "btc"})), share)
        for name, key, share in (
            ("wnut17.train", "wnut17", 0.35),
            ("btc.train", "btc", 0.7),
            ("wikigold.all", "wikigold", 1.5),
            ("crossner_politics.train", "crossner", 1.5),
            ("crossner_science.train", "crossner", 1.5),
            ("crossner_literature.train", "crossner", 1.5),
        )
    ]
