"""Measures what the student costs in quality: the student, both models, and the transformer, on labelled text.

    python -m benchmarks.cascade [--data ../shared/data] [--some 0.005 0.03 --sure 0.9 0.8]

Labelled text is not part of the project; `tests/vectors/names` is, and is measured without it. For each set and type:
the share of labelled values that are wholly covered by findings of any type, and how many findings of the type touch no
labelled value. Below the table: the share of units that the transformer reads, context included.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.ablation_texts import DEVELOPMENT
from gateway.detection import builtin_detector
from gateway.detection.ner import cascade
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.engine import TokenClassifier, Window
from gateway.detection.ner.finder import NameFinder
from gateway.detection.ner.inference import Chances
from gateway.detection.ner.units import Units
from gateway.models import Entity

ROOT = Path(__file__).parent.parent
_TYPES = {"STREET_ADDRESS": "ADDRESS"}
_COMMON = ("PERSON", "LOCATION", "ORGANIZATION", "ADDRESS", "USERNAME")
_HIDDEN = ("PERSON", "ADDRESS", "USERNAME")

type Span = tuple[int, int, str]


class _Measured(BuiltinModel):
    """Reads as `mode` says, and counts the units."""

    mode = "both"
    units = read_again = 0

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        if self.mode == "transformer":
            return TokenClassifier.read(self, texts)
        return super().read(texts)

    def _second_readings(
        self, texts: Sequence[str], own: Sequence[Units], rows: Sequence[slice], chances: Chances
    ) -> list[list[Window]]:
        if self.mode == "student":
            return [[] for _ in texts]
        readings = super()._second_readings(texts, own, rows, chances)
        self.units += len(chances)
        self.read_again += sum(one.last - one.first for some in readings for one in some)
        return readings


def _labelled(data: Path) -> Iterator[tuple[str, str, list[Span]]]:
    """Yields set, text and spans of common types."""
    if data.is_dir():
        meanings = json.loads((data / "label_map.json").read_text("utf-8"))
        for name, key in DEVELOPMENT.items():
            for row in _rows(data / f"{name}.jsonl"):
                labels = meanings[key]
                common = [
                    (one["start"], one["end"], labels.get(one["label"], labels.get("*", {"common": "MISC"}))["common"])
                    for one in row["spans"]
                ]
                yield name, row["text"], common
    for row in _rows(ROOT / "tests" / "vectors" / "names" / "unseen_documents.jsonl"):
        yield "unseen documents", row["text"], [(one["start"], one["end"], one["label"]) for one in row["spans"]]
    for name in ("clean_prompts", "clean_prompts_languages", "business_clean"):
        for row in _rows(ROOT / "tests" / "vectors" / "names" / f"{name}.jsonl"):
            yield name, row["text"], []


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _count(counts: Counter[tuple[str, str, str]], name: str, gold: Sequence[Span], found: Sequence[Span]) -> None:
    covered = {index for start, end, _ in found for index in range(start, end)}
    for start, end, kind in gold:
        if kind in _COMMON:
            counts[name, kind, "gold"] += 1
            counts[name, kind, "covered"] += covered.issuperset(range(start, end))
    for start, end, kind in found:
        if not any(start < last and first < end for first, last, _ in gold):
            counts[name, kind, "false"] += 1


def _total(counts: Counter[tuple[str, str, str]], name: str, kinds: Sequence[str], what: str) -> int:
    return sum(many for key, many in counts.items() if name in {"all", key[0]} and key[1] in kinds and key[2] == what)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cascade", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--every", type=int, default=1, help="read every n-th text only")
    # Each for private types, then for places and organizations.
    parser.add_argument("--some", type=float, nargs=2, default=(cascade.STRICT.some, cascade.LOOSE.some))
    parser.add_argument("--sure", type=float, nargs=2, default=(cascade.STRICT.sure, cascade.LOOSE.sure))
    parser.add_argument("--modes", nargs="+", default=["student", "both", "transformer"])
    options = parser.parse_args()
    cascade.STRICT, cascade.LOOSE = (
        cascade.Doubt(some, sure) for some, sure in zip(options.some, options.sure, strict=True)
    )
    texts = list(_labelled(options.data))[:: options.every]
    model = _Measured(builtin_detector().types)
    names = NameFinder(model)
    results: dict[str, Counter[tuple[str, str, str]]] = {}
    shares: dict[str, float] = {}
    for mode in options.modes:
        model.mode, model.units, model.read_again = mode, 0, 0
        results[mode] = counts = Counter()
        for name, text, gold in texts:
            found = [(one.start, one.end, _TYPES.get(one.type, one.type)) for one in names.detect(text)]
            _count(counts, name, gold, found)
        shares[mode] = model.read_again / max(1, model.units)
    table = Table("set", "type", "labelled", *(f"{mode}: {what}" for mode in results for what in ("covered", "false")))
    rows = sorted({key[:2] for counts in results.values() for key in counts if key[1] in _COMMON})
    for name, kind in [*rows, ("all", "hidden types"), ("all", "all types")]:
        kinds = {"hidden types": _HIDDEN, "all types": _COMMON}.get(kind, (kind,))
        cells: list[str] = []
        for counts in results.values():
            gold, covered, false = (_total(counts, name, kinds, what) for what in ("gold", "covered", "false"))
            cells = cells or [str(gold)]
            cells += [f"{covered / gold:.4f}" if gold else "-", str(false)]
        table.add_row(name, kind, *cells)
    console = Console(width=160)
    console.print(table)
    console.print("read by the transformer:", {mode: f"{share:.1%}" for mode, share in shares.items()})


if __name__ == "__main__":
    main()
