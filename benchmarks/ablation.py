"""Switches off each part of detection in turn; counts what is then missed, and what is no longer hidden by mistake.

    python -m benchmarks.ablation [--data ../shared/data] [--every 4] [--clean 2] [--parts modules,rules,forms,model]
                                  [--only TEXT] [--json FILE]

modules   each module of recognizers, all its rules together
rules     each recognizer on its own; of one with several expressions or types, each of these
forms     each deobfuscation
model     the name model as a whole, and each correction of its results

For each set (development: labelled documents; reports, cases, vectors; clean text): "missed" are values that are wholly
hidden with all parts and not without this one, "gained" the reverse, "false" the change in findings that hide what is
not private (negative: fewer). "time" is the share of processor time that the recognizer takes of all that search the
clean text. A rule that moves nothing but the vectors written for it is idle.

Texts where a recognizer finds nothing at all are not searched again without it, so that this takes minutes, not hours.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.ablation_texts import ROOT, Sample, samples
from gateway.config.settings import BUILTIN_POLICIES
from gateway.detection import Detector
from gateway.detection.deobfuscation.search import DEOBFUSCATIONS
from gateway.detection.discovery import discover
from gateway.detection.engines import Engines, Finder
from gateway.detection.memory import Recall
from gateway.detection.ner import builtin_decoder, finder
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.builtin_decoder import BuiltinDecoder
from gateway.detection.ner.finder import NameFinder
from gateway.detection.ner.lists import Lists
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.plugins import plugin_modules
from gateway.detection.recognizer import EntityType, Match, PatternRecognizer, Recognizer
from gateway.evaluation.predictor import Predictor
from gateway.models import Entity, PrivacyMode
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector

KINDS = ("missed", "gained", "false")
SETS = ("development", "reports", "cases", "vectors", "clean")

# Corrections of the name model, each with what takes its place.
CORRECTIONS: Mapping[str, tuple[object, str, Any]] = {
    "given names": (builtin_decoder, "label_given_names", lambda text, offsets, labels, **_: labels),
    "siblings in lists": (Lists, "with_siblings", lambda self, text, found: found),
    "places": (builtin_decoder, "is_in_place", lambda *_: False),
    "labels": (builtin_decoder, "is_label", lambda *_: False),
    "goods": (builtin_decoder, "is_goods", lambda *_: False),
    "dates of birth": (builtin_decoder, "is_birth_date", lambda *_: True),
    "words of programs": (BuiltinDecoder, "_is_programs", lambda *_: False),
    "ordinary cells": (BuiltinDecoder, "_without_ordinary_cells", lambda self, text, one: iter((one,))),
    "address labels": (builtin_decoder, "without_labels", lambda text, one: iter((one,))),
    "whole numbers": (builtin_decoder, "_with_whole_numbers", lambda text, one: one),
    "whole accounts": (BuiltinDecoder, "_whole_account", lambda self, text, one: one),
    "moot doubts": (BuiltinModel, "_drop_moot", lambda *_: None),
    "columns": (finder, "corrected", lambda text, found: iter(found)),
    "decoded text": (finder, "decoded", lambda text: None),
}


@dataclass
class Recording:
    """A recognizer that counts its time, and remembers in which texts it finds anything."""

    inner: Recognizer
    seconds: float = 0.0
    active: set[int] = field(default_factory=set)
    now: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def find(self, normalized: NormalizedText, hits: Sequence[int]) -> Iterable[Match]:
        began = time.thread_time()
        found = list(self.inner.find(normalized, hits))
        self.seconds += time.thread_time() - began
        if found:
            self.active.add(self.now)
        return found


class Read(Finder):
    """Returns what the name model found before, so that it reads each text only once."""

    version = "read"

    def __init__(self, types: Mapping[str, EntityType], found: Mapping[str, tuple[Entity, ...]]) -> None:
        self.types = types
        self._found = found

    def detect(self, text: str) -> tuple[Entity, ...]:
        return self._found[text]

    def detect_all(self, texts: Sequence[str], recall: Recall | None = None) -> Sequence[tuple[Entity, ...]]:
        return [*map(self.detect, texts)]

    def close(self) -> None:
        pass


@dataclass
class WithoutType:
    """A recognizer that does not find one of its types."""

    inner: Recognizer
    type: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def find(self, normalized: NormalizedText, hits: Sequence[int]) -> Iterable[Match]:
        return [one for one in self.inner.find(normalized, hits) if one.type != self.type]


class WithoutForm(Detector):
    """A detector without one of the deobfuscations, which notes those that apply."""

    def __init__(self, recognizers: Sequence[Recognizer], off: int = -1) -> None:
        super().__init__(recognizers, check=False)
        self.off = off
        self.applied: set[int] = set()

    def _search(self, normalized: NormalizedText) -> Any:
        found, forms = super()._search(normalized)
        self.applied.update(forms)
        return found, [form for form in forms if form != self.off]


@dataclass
class Outcome:
    """The result for one text: which wanted values are hidden, and the number of false findings."""

    hidden: frozenset[int]
    false: int


def outcome(sample: Sample, predictor: Predictor) -> Outcome:
    """Searches a text under the policy."""
    findings = [(one.start, one.end) for one in predictor.predict(sample.text) if one.hidden]
    covered = {at for start, end in findings for at in range(start, end)}
    fine = covered.intersection(at for start, end in (*sample.wanted, *sample.neutral) for at in range(start, end))
    hidden = frozenset(
        number
        for number, (start, end) in enumerate(sample.wanted)
        if all(at in covered for at in range(start, end) if sample.text[at].isalnum())
    )
    return Outcome(hidden, sum(not fine.intersection(range(start, end)) for start, end in findings))


class Ablation:
    """Compares parts switched off with the whole."""

    def __init__(self, texts: Sequence[Sample]) -> None:
        self.texts = texts
        self.recognizers = tuple(discover())
        self._policy = PolicyRegistry(BUILTIN_POLICIES).get("default")
        self._model = BuiltinModel(Detector(self.recognizers, check=False).types)
        self.names = self._read(range(len(texts)))
        recording = tuple(map(Recording, self.recognizers))
        detector = WithoutForm(recording)
        predictor = self.predictor(detector)
        self.formed: dict[int, set[int]] = defaultdict(set)
        self.whole: list[Outcome] = []
        for number, sample in enumerate(track(texts, "searching")):
            for one in recording:
                one.now = number
            self.whole.append(outcome(sample, predictor))
            for form in detector.applied:
                self.formed[form].add(number)
            detector.applied.clear()
        self.active = {one.inner.id: one.active for one in recording}
        seconds = sum(one.seconds for one in recording)
        self.time = {one.inner.id: one.seconds / seconds for one in recording}

    def predictor(self, detector: Detector, names: Mapping[str, tuple[Entity, ...]] | None = None) -> Predictor:
        engines = Engines(detector, [Read(self._model.types, self.names if names is None else names)])
        return Predictor(Protector(engines, hash_key=bytes(32)), self._policy, PrivacyMode.STANDARD)

    def _read(self, numbers: Iterable[int]) -> dict[str, tuple[Entity, ...]]:
        names = NameFinder(self._model)
        return {(text := self.texts[number].text): names.detect(text) for number in track([*numbers], "reading")}

    def changes(self, predictor: Predictor, numbers: Iterable[int]) -> Counter[tuple[str, str]]:
        """Counts what changes in these texts, by set and kind."""
        counts: Counter[tuple[str, str]] = Counter()
        for number in numbers:
            sample, before = self.texts[number], self.whole[number]
            after = outcome(sample, predictor)
            counts[sample.set, "missed"] += len(before.hidden - after.hidden)
            counts[sample.set, "gained"] += len(after.hidden - before.hidden)
            counts[sample.set, "false"] += after.false - before.false
        return counts

    def without(self, ids: set[str]) -> Counter[tuple[str, str]]:
        """Switches off recognizers."""
        kept = [one for one in self.recognizers if one.id not in ids]
        active = sorted(set[int]().union(*(self.active[one] for one in ids)))
        return self.changes(self.predictor(Detector(kept, check=False)), active) if active else Counter()

    def with_other(self, other: Recognizer) -> Counter[tuple[str, str]]:
        """Puts a recognizer in the place of the one with the same id."""
        kept = [other if one.id == other.id else one for one in self.recognizers]
        return self.changes(self.predictor(Detector(kept, check=False)), sorted(self.active[other.id]))

    def without_form(self, number: int) -> Counter[tuple[str, str]]:
        return self.changes(self.predictor(WithoutForm(self.recognizers, number)), sorted(self.formed[number]))

    def without_correction(self, name: str) -> Counter[tuple[str, str]]:
        target, attribute, instead = CORRECTIONS[name]
        with patch.object(target, attribute, instead):
            names = self._read(range(len(self.texts)))
        changed = [at for at, one in enumerate(self.texts) if names[one.text] != self.names[one.text]]
        return self.changes(self.predictor(Detector(self.recognizers, check=False), names), changed)

    def without_model(self) -> Counter[tuple[str, str]]:
        names = dict.fromkeys(self.names, ())
        active = [at for at, one in enumerate(self.texts) if self.names[one.text]]
        return self.changes(self.predictor(Detector(self.recognizers, check=False), names), active)


class Part(NamedTuple):
    """A part of detection: `measure` counts what changes without it; `share` is its share of the time."""

    name: str
    measure: Callable[[], Counter[tuple[str, str]]]
    share: float = 0.0


def modules() -> dict[str, set[str]]:
    """Returns the recognizers of each module."""
    prefix = "gateway.detection.recognizers."
    return {
        module.__name__.removeprefix(prefix): {one.id for one in module.RECOGNIZERS}
        for module in plugin_modules(prefix.rstrip("."))
    }


def rules(work: Ablation) -> Iterator[Part]:
    """Yields each rule."""
    for one in work.recognizers:
        yield Part(one.id, partial(work.without, {one.id}), work.time[one.id])
        if isinstance(one, PatternRecognizer):
            for number in range(len(one.patterns) if len(one.patterns) > 1 else 0):
                others = replace(one, patterns=one.patterns[:number] + one.patterns[number + 1 :])
                yield Part(f"{one.id} [{number}]", partial(work.with_other, others))
        elif len(one.types) > 1:
            for each in one.types:
                yield Part(f"{one.id} {each.name}", partial(work.with_other, WithoutType(one, each.name)))


def parts(work: Ablation, chosen: Sequence[str]) -> Iterator[Part]:
    """Yields each part of the chosen kinds."""
    if "modules" in chosen:
        for name, ids in modules().items():
            yield Part(name, partial(work.without, ids), sum(work.time[one] for one in ids))
    if "rules" in chosen:
        yield from rules(work)
    if "forms" in chosen:
        for number, form in enumerate(DEOBFUSCATIONS):
            yield Part(f"form: {form.name}", partial(work.without_form, number))
    if "model" in chosen:
        yield Part("name model", work.without_model)
        for name in CORRECTIONS:
            yield Part(f"correction: {name}", partial(work.without_correction, name))


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--every", type=int, default=4, help="read every n-th labelled document")
    parser.add_argument("--clean", type=float, default=2.0, metavar="MB")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=["modules", "rules", "forms", "model"])
    parser.add_argument("--only", default="", help="only parts whose name contains this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    work = Ablation(list(samples(options.data, options.every, options.clean)))
    wanted = [part for part in parts(work, options.parts) if options.only in part.name]
    rows = [(part, part.measure()) for part in track(wanted, "switching off")]
    table = Table("part", *SETS, "time", title="missed / gained / false, against all parts together")
    for part, counts in rows:
        cells = ["/".join(str(counts[each, kind]) for kind in KINDS) if counts else "" for each in SETS]
        table.add_row(part.name, *cells, f"{part.share:.1%}" if part.share else "")
    Console(width=160).print(table)
    if options.json:
        document = [
            {"part": part.name, "time": part.share}
            | {f"{each} {kind}": counts[each, kind] for each in SETS for kind in KINDS}
            for part, counts in rows
        ]
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
