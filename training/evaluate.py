"""Measures a model folder on text it was never trained on: ``python -m training.evaluate [--json FILE]``.

Overlap F1 as in the labelled data's own scorer: a gold span counts as found when a prediction of its type touches it, a
prediction as right when it touches a gold span of its type. "Covered": every word of the gold span hidden, by any type.
"""

import argparse
import collections
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from training.artefact import Artefact, Found
from training.corpora import HANDLE, held_out, label_map, rows
from training.features import Span
from training.heldout import KINDS, documents

ROOT = Path(__file__).parent.parent
# The least score that the default policy requires.
SURE = 0.5
VECTORS = ROOT / "tests" / "vectors" / "names"
HIDDEN = {"PERSON", "ADDRESS", "DATE_OF_BIRTH", "USERNAME", "ID", "MEDICAL_RECORD"}
FREE_WORDS = set("mr mrs ms miss dr prof sir the a an of in on at and to for from between by no nos".split())
TYPES = ("PERSON", "LOCATION", "ORGANIZATION", "ADDRESS")
SETS = (
    ("presidio_synth_v2.dev", "presidio_synth_v2"),
    ("presidio_generated_large.dev", "presidio_generated_large"),
    ("wikigold.all", "wikigold"),
    ("wnut17.dev", "wnut17"),
    ("btc.dev", "btc"),
    ("crossner_politics.dev", "crossner"),
    ("crossner_literature.dev", "crossner"),
    ("crossner_science.dev", "crossner"),
)


@dataclass(slots=True)
class Tally:
    """Counts of one type on one set."""

    gold: int = 0
    hit: int = 0
    predicted: int = 0
    right: int = 0
    covered: int = 0
    missed: collections.Counter[str] = field(default_factory=collections.Counter)
    false: collections.Counter[str] = field(default_factory=collections.Counter)

    def figures(self) -> dict[str, float]:
        """Precision, recall, F1 and share covered."""
        precision = self.right / self.predicted if self.predicted else 0.0
        recall = self.hit / self.gold if self.gold else 0.0
        total = precision + recall
        return {
            "gold": self.gold,
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "f1": round(2 * precision * recall / total if total else 0.0, 4),
            "covered": round(self.covered / self.gold if self.gold else 0.0, 4),
        }


PLACE = "LOCATION in or beside ADDRESS"


def _add_places(tally: Tally, gold: list[Span], found: list[Found]) -> None:
    """Places once more, where one that stands within an address found counts as found: there the address hides it."""
    wanted = {(a, b) for a, b, name in gold if name == "LOCATION"}
    allowed = wanted | {(a, b) for a, b, name in gold if name == "ADDRESS"}
    hiding = {(f.start, f.end) for f in found if f.label in {"LOCATION", "ADDRESS"}}
    got = {(f.start, f.end) for f in found if f.label == "LOCATION"}
    tally.gold += len(wanted)
    tally.predicted += len(got)
    hit = sum(any(a < d and c < b for c, d in hiding) for a, b in wanted)
    tally.hit += hit
    tally.covered += hit
    tally.right += sum(any(a < d and c < b for a, b in allowed) for c, d in got)


def _must_hide(text: str, start: int, end: int) -> list[int]:
    places = [
        i for m in re.finditer(r"\w+", text[start:end]) if m.group().lower() not in FREE_WORDS
        for i in range(start + m.start(), start + m.end())
    ]  # fmt: skip
    return places or [i for i in range(start, end) if text[i].isalnum()]


def add(tallies: dict[str, Tally], text: str, gold: list[Span], found: list[Found]) -> None:
    """Counts one document."""
    hidden = {i for f in found for i in range(f.start, f.end)}
    _add_places(tallies.setdefault(PLACE, Tally()), gold, found)
    for kind in TYPES:
        tally = tallies.setdefault(kind, Tally())
        wanted = {(a, b) for a, b, name in gold if name == kind}
        got = {(f.start, f.end) for f in found if f.label == kind}
        tally.gold += len(wanted)
        tally.predicted += len(got)
        for a, b in wanted:
            touched = any(a < d and c < b for c, d in got)
            tally.hit += touched
            tally.covered += all(i in hidden for i in _must_hide(text, a, b))
            if not touched:
                tally.missed[text[a:b]] += 1
        for c, d in got:
            right = any(a < d and c < b for a, b in wanted)
            tally.right += right
            if not right:
                tally.false[text[c:d]] += 1


def _labelled(folder: Path, name: str, key: str) -> Iterator[tuple[str, list[Span]]]:
    labels = label_map(folder)[key]
    for row in rows(folder / f"{name}.jsonl"):
        if key == "wikigold" and not held_out(str(row["id"])):
            continue
        spans: list[Span] = []
        for span in row["spans"]:  # type: ignore[attr-defined]
            meaning = labels.get(span["label"], labels.get("*", {"common": "MISC"}))["common"]
            # A postal code alone is no street address.
            spans.append((span["start"], span["end"], "ZIP" if span["label"] == "ZIP_CODE" else meaning))
        yield str(row["text"]), spans


def measure_set(artefact: Artefact, folder: Path, name: str, key: str) -> dict[str, Tally]:
    """All types on one labelled file; on social media, handles count for neither side."""
    tallies: dict[str, Tally] = {}
    for text, gold in _labelled(folder, name, key):
        found = artefact.spans(text, SURE)
        if key in {"btc", "wnut17"}:
            handles = [m.span() for m in HANDLE.finditer(text)]
            gold[:] = [s for s in gold if not _touches(s[0], s[1], handles) and text[s[0] : s[1]] != "@"]
            found = [f for f in found if not _touches(f.start, f.end, handles)]
        add(tallies, text, gold, found)
    if not tallies["ADDRESS"].gold:
        del tallies[PLACE]
    return tallies


def _touches(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    return any(start < right and left < end for left, right in spans)


def measure_clean(artefact: Artefact) -> dict[str, object]:
    """Share of clean prompts with a finding that the default policy would hide."""
    touched = []
    prompts = list(rows(VECTORS / "clean_prompts.jsonl"))
    for row in prompts:
        found = _hidden(artefact, str(row["text"]))
        if found:
            touched.append([row["id"], [f"{f.label}:{str(row['text'])[f.start : f.end]}" for f in found]])
    return {"prompts": len(prompts), "touched": round(len(touched) / len(prompts), 4), "findings": touched}


def measure_languages(artefact: Artefact) -> dict[str, dict[str, int]]:
    """By language: prompts without a name, and how many of them have a finding that the default policy hides;
    documents with names, how many of those are wholly hidden, and what is hidden beside them.
    """
    counts: dict[str, dict[str, int]] = {}
    for row in rows(VECTORS / "clean_prompts_languages.jsonl"):
        count = counts.setdefault(
            str(row["language"]), dict.fromkeys(("prompts", "touched", "names", "hidden", "beside"), 0)
        )
        count["prompts"] += 1
        count["touched"] += bool(_hidden(artefact, str(row["text"])))
    for row in rows(VECTORS / "named_documents_languages.jsonl"):
        text, count = str(row["text"]), counts[str(row["language"])]
        found = _hidden(artefact, text)
        hidden = {i for f in found for i in range(f.start, f.end)}
        names = list(_places(text, row["names"]))  # type: ignore[arg-type]
        count["names"] += len(names)
        count["hidden"] += sum(hidden.issuperset(_must_hide(text, start, end)) for start, end in names)
        count["beside"] += sum(not _touches(f.start, f.end, names) for f in found)
    return counts


def _hidden(artefact: Artefact, text: str) -> list[Found]:
    return [found for found in artefact.spans(text, SURE) if found.label in HIDDEN]


def _places(text: str, names: list[str]) -> Iterator[tuple[int, int]]:
    """Where names stand, the longest first, none inside another or inside a word."""
    taken: list[tuple[int, int]] = []
    for name in sorted(set(names), key=len, reverse=True):
        for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            if not _touches(*found.span(), taken):
                taken.append(found.span())
                yield found.span()


def measure_unseen(artefact: Artefact, seed: int = 7, each: int = 30) -> dict[str, dict[str, float]]:
    """Recall of persons in documents of unseen templates and unseen names, by culture, by kind and in small letters."""
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    for culture, kind, dress, document in documents(seed, each):
        found = artefact.spans(document.text, SURE)
        hidden = {i for f in found for i in range(f.start, f.end)}
        for start, end, name in document.spans:
            keys = (culture, f"kind {kind}", f"dress {dress}", "all") if name == "PERSON" else (f"type {name}",)
            hit = any(f.start < end and start < f.end and f.label == name for f in found)
            for key in keys:
                counts[key][0] += 1
                counts[key][1] += hit
                counts[key][2] += all(i in hidden for i in _must_hide(document.text, start, end))
    return {
        k: {"n": n, "found": round(h / n, 4), "covered": round(c / n, 4)} for k, (n, h, c) in sorted(counts.items())
    }


def main() -> None:
    """Prints a table; ``--json`` writes everything."""
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("--model", type=Path, default=ROOT / "gateway" / "detection" / "ner" / "model")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--errors", type=int, default=0, help="show so many misses and false alarms a type")
    arguments = parser.parse_args()
    artefact = Artefact(arguments.model)
    report: dict[str, object] = {}
    for name, key in SETS:
        tallies = measure_set(artefact, arguments.data, name, key)
        report[name] = {kind: t.figures() for kind, t in tallies.items() if t.gold}
        for kind, tally in tallies.items():
            if tally.gold:
                print(f"{name:30s} {kind:13s}", " ".join(f"{k} {v}" for k, v in tally.figures().items()), flush=True)
                if arguments.errors:
                    print("    missed:", [k for k, _ in tally.missed.most_common(arguments.errors)])
                    print("    false: ", [k for k, _ in tally.false.most_common(arguments.errors)])
    report["clean_prompts"] = measure_clean(artefact)
    print("clean prompts", json.dumps(report["clean_prompts"], ensure_ascii=False))
    report["languages"] = languages = measure_languages(artefact)
    for language, counts in languages.items():
        print(f"language {language}", " ".join(f"{k} {v}" for k, v in counts.items()))
    report["unseen"] = unseen = measure_unseen(artefact)
    for key_, figures in unseen.items():
        print(f"unseen {key_:22s}", " ".join(f"{k} {v}" for k, v in figures.items()))
    print("kinds:", ", ".join(KINDS))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
