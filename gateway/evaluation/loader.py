"""Reads labelled text: one JSON object per line, with offsets in Unicode code points.

    document   {"id", "text", "spans": [{"start", "end", "label", "value"?}]}
    case       {"id", "entity", "text", "polarity": "positive" | "negative", "expected_spans": [[start, end]] | null}

Other members are ignored. A line is a document if it has `spans`, a case if it has `polarity`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from gateway.errors import Unprocessable

type Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """A labelled span: `text[start:end]` has the label `label`."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text with all its labelled spans."""

    id: str
    text: str = field(repr=False)
    spans: tuple[GoldSpan, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A short text that contains an `entity`, or only appears to. `spans` is None if its position is not given."""

    id: str
    entity: str
    text: str = field(repr=False)
    positive: bool
    spans: tuple[Interval, ...] | None


@dataclass(frozen=True, slots=True)
class Labelled:
    """The contents of a file."""

    documents: tuple[Document, ...]
    cases: tuple[Case, ...]


def read_lines(lines: Iterable[str], limit: int | None = None) -> Labelled:
    """Reads the first `limit` documents and cases. Raises Unprocessable with the number of an invalid line."""
    documents: list[Document] = []
    cases: list[Case] = []
    for number, line in enumerate(lines, 1):
        if limit is not None and len(documents) + len(cases) >= limit:
            break
        if not line.strip():
            continue
        try:
            read = _read(_object(line), number)
        except Unprocessable as error:
            raise Unprocessable(f"Line {number}: {error.message}.") from None
        if isinstance(read, Document):
            documents.append(read)
        else:
            cases.append(read)
    return Labelled(tuple(documents), tuple(cases))


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise Unprocessable("it is not JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise Unprocessable("it is no object with a `text`")
    return value


def _read(line: dict[str, Any], number: int) -> Document | Case:
    identity, text = str(line.get("id", number)), line["text"]
    if isinstance(line.get("spans"), list):
        spans = sorted((_gold(one, text) for one in line["spans"]), key=attrgetter("start", "end"))
        return Document(identity, text, tuple(spans))
    if line.get("polarity") in {"positive", "negative"} and isinstance(line.get("entity"), str):
        return Case(identity, line["entity"], text, line["polarity"] == "positive", _expected(line, text))
    raise Unprocessable("it has neither `spans` (a document) nor `polarity` and `entity` (a case)")


def _gold(span: Any, text: str) -> GoldSpan:
    if not isinstance(span, dict) or not isinstance(span.get("label"), str):
        raise Unprocessable("a span has no `label`")
    start, end = _interval((span.get("start"), span.get("end")), text)
    if "value" in span and span["value"] != text[start:end]:
        raise Unprocessable("a span's `value` is not the text there (offsets are Unicode code points)")
    return GoldSpan(start, end, span["label"])


def _expected(line: dict[str, Any], text: str) -> tuple[Interval, ...] | None:
    spans = line.get("expected_spans")
    if not isinstance(spans, list) or (line["polarity"] == "positive" and not spans):
        return None
    return tuple(_interval(tuple(one) if isinstance(one, list) else (), text) for one in spans)


def _interval(pair: tuple[Any, ...], text: str) -> Interval:
    match pair:
        case (int(start), int(end)) if 0 <= start < end <= len(text):
            return start, end
    raise Unprocessable("a span does not lie within the text")
