"""Fifty long documents, every fifth with Windows line ends, with their findings and their sentences known."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.models import Action, Entity
from gateway.text.fields import Span

_FILE = Path(__file__).parents[2] / "vectors" / "sharding" / "documents.jsonl"
_MARK = re.compile(r"\{\{([A-Z_]+)\|(.+?)\}\}")


@dataclass
class Document:
    """`sentences` are stretches of `text` that must never be divided; `whole` are tables and code."""

    name: str
    text: str
    spans: list[Span]
    kept: list[Entity]
    sentences: list[list[int]]
    whole: list[list[int]]
    headings: list[str]
    bound: int


def documents() -> Iterator[Document]:
    """Reads the documents. A value in `{{TYPE|value}}` is hidden, or kept if the type is LOCATION."""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        spans, kept, text, position = list[Span](), list[Entity](), "", 0
        for mark in _MARK.finditer(row["text"]):
            text += row["text"][position : mark.start()]
            start, end = len(text), len(text) + len(mark[2])
            if mark[1] == "LOCATION":
                kept.append(Entity(mark[1], start, end, 0.85, "test"))
            else:
                spans.append(Span(start, end, mark[1], Action.PLACEHOLDER, 0.9, "test"))
            text += mark[2]
            position = mark.end()
        yield Document(**{**row, "text": text + row["text"][position:]}, spans=spans, kept=kept)
