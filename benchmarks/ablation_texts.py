"""The texts that `benchmarks.ablation` searches: labelled documents, cases, vectors and clean text."""

import json
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.clean_text import files_of

ROOT = Path(__file__).parent.parent
VECTORS = ROOT / "tests" / "vectors"
DEVELOPMENT = {
    "presidio_synth_v2.dev": "presidio_synth_v2",
    "presidio_generated_large.dev": "presidio_generated_large",
    "wikigold.all": "wikigold",
    "wnut17.dev": "wnut17",
    "btc.dev": "btc",
    "crossner_politics.dev": "crossner",
    "crossner_literature.dev": "crossner",
    "crossner_science.dev": "crossner",
}
_LARGEST = 60_000

type Span = tuple[int, int]


class Sample(NamedTuple):
    """A text of a set. Of each of `wanted`, all letters and digits must be hidden; hiding `neutral` is no error."""

    set: str
    text: str
    wanted: tuple[Span, ...] = ()
    neutral: tuple[Span, ...] = ()


def samples(data: Path, every: int, clean: float) -> Iterator[Sample]:
    """Yields every n-th labelled document, all cases and vectors, and `clean` MB of the standard library's sources.

    `data` is the folder of labelled text, which is not part of the project; without it, only the rest is yielded.
    """
    if data.is_dir():
        meanings = json.loads((data / "label_map.json").read_text("utf-8"))
        for name, key in DEVELOPMENT.items():
            for row in _rows(data / f"{name}.jsonl")[::every]:
                yield _document(row, meanings[key])
        for file in sorted((data / "cases").glob("*.jsonl")):
            yield from map(_report if file.name.startswith("reports") else _case, _rows(file))
    yield from _vectors()
    yield from _clean(clean)


def _document(row: Mapping[str, Any], meanings: Mapping[str, Any]) -> Sample:
    spans: dict[bool, list[Span]] = {True: [], False: []}
    for one in row["spans"]:
        meaning = meanings.get(one["label"], meanings.get("*", {"action": "ignore"}))
        if meaning["action"] != "keep":
            spans[meaning["action"] == "redact"].append((one["start"], one["end"]))
    return Sample("development", row["text"], tuple(spans[True]), tuple(spans[False]))


def _report(row: Mapping[str, Any]) -> Sample:
    text = row["text"]
    wanted = [(at, at + len(value)) for value in row["hide"] for at in _places(text, value)]
    kept = {at + offset for value in row["keep"] for at in _places(text, value) for offset in range(len(value))}
    neutral = [(at, at + 1) for at in range(len(text)) if at not in kept]
    return Sample("reports", text, tuple(wanted), tuple(neutral))


def _case(row: Mapping[str, Any]) -> Sample:
    text = row["text"]
    whole = ((0, len(text)),)
    if row["polarity"] == "negative":
        return Sample("cases", text)
    # Some only say that there is a value, not where; then nothing is measured but what is found within it.
    return Sample("cases", text, tuple(map(tuple, row["expected_spans"] or ())), whole)


def _vectors() -> Iterator[Sample]:
    for file in sorted((VECTORS / "detection").glob("*.jsonl")):
        for row in _rows(file):
            values = [row["value"]] if isinstance(row.get("value"), str) else []
            wanted = tuple((at, at + len(value)) for value in values for at in [*_places(row["text"], value)][:1])
            yield Sample("vectors", row["text"], wanted, ((0, len(row["text"])),) if "value" in row else ())
    for name in ("found", "left_alone"):
        for row in json.loads((VECTORS / "detection" / f"{name}.json").read_text("utf-8")):
            at = row["text"].find(row["value"]) if "value" in row else 0
            wanted = ((at, at + len(row["value"])),) if "value" in row else ()
            yield Sample("vectors", row["text"], wanted, ((0, len(row["text"])),) if wanted else ())
    for file in sorted((VECTORS / "names").glob("*.jsonl")):
        for row in _rows(file):
            spans = [(one["start"], one["end"]) for one in row.get("spans", ())]
            spans += [(at, at + len(name)) for name in row.get("names", ()) for at in _places(row["text"], name)]
            yield Sample("vectors", row["text"], tuple(spans))


def _clean(megabytes: float) -> Iterator[Sample]:
    size = 0
    for file in files_of(Path(sysconfig.get_path("stdlib")), [".py", ".txt", ".rst"]):
        text = file.read_text("utf-8", errors="replace")
        if len(text) <= _LARGEST and size < megabytes * 1e6:
            size += len(text)
            yield Sample("clean", text)


def _places(text: str, value: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + 1)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
