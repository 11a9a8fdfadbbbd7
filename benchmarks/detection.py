"""Milliseconds per KB that detection takes, on one core, in one run; no network.

    python -m benchmarks.detection [--rounds 5] [--largest 10] [--json FILE] [--only A,B]
    python -m benchmarks.detection --presidio /path/to/python

texts     plain prose, text dense with identifiers, code, log lines, 64 KB each; with --presidio the same texts through
          Presidio's pattern recognizers, run by an interpreter that has presidio-analyzer:
          python -m venv presidio && presidio/bin/pip install presidio-analyzer
sizes     prose and dense text from 1 KB to 10 MB
hostile   texts made to be slow, 1 MB each; "growth" is ms per KB against the same text of 128 KB: 1 is linear
model     new messages of 1 and 10 KB through the recognizers and the model of names, and one that was seen before
talks     the twentieth turn of a conversation (40 messages, 38 of them known) against the first: looked through,
          protected, and protected with the model of names, as by default

Times are processor time, on one core, of what searches (the model has threads of its own), so that what else runs on
the machine shows little: the best of several medians, after a warm-up. The garbage collector runs as it does in the
gateway, which spares what was built before it serves; what it takes is printed.
Compare ratios: "of prose" is the same size of plain prose, measured in the same run.
"""

import argparse
import gc
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table

from benchmarks.detection_texts import HOSTILE, KB, ORDINARY, dense, prose
from benchmarks.one_core import on_one_core
from gateway.config.settings import BUILTIN_POLICIES
from gateway.detection import Detector, builtin_detector
from gateway.detection.engines import Engines, Finder
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.finder import NameFinder
from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Memory, Protector
from gateway.text.fields import MessageField, TextField

type Maker = Callable[[int], str]
CALLER = "key_benchmark"

type Work = Callable[[Protector, list[list[MessageField]]], object]

PARTS = ("texts", "sizes", "hostile", "model", "talks")
_TEXT_KB, _HOSTILE_KB = 64, 1024
_AT_LEAST = 0.05
"""Seconds: a short text is searched again and again until a sample takes that long."""


@dataclass(frozen=True)
class Cell:
    """One text, measured. `of_prose`: against prose of the same size in this run; `growth`: against its eighth part."""

    part: str
    text: str
    kb: float
    ms_per_kb: float
    of_prose: float
    growth: float | None
    findings: int


class Collector:
    """How much of the time the garbage collector took."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.runs = 0
        self._began = 0.0

    def __call__(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.thread_time()
        else:
            self.seconds += time.thread_time() - self._began
            self.runs += 1

    @contextmanager
    def watching(self) -> Iterator[None]:
        gc.callbacks.append(self)
        try:
            yield
        finally:
            gc.callbacks.remove(self)


def best_median(work: Callable[[], object], rounds: int) -> float:
    """Seconds of one call: the best of `rounds` medians of three samples, each of one call or more."""
    began = time.thread_time()
    work()
    once = time.thread_time() - began
    calls = max(1, int(_AT_LEAST / once))

    def sample() -> float:
        began = time.thread_time()
        for _ in range(calls):
            work()
        return (time.thread_time() - began) / calls

    if once > 10 * _AT_LEAST:
        return min(sample() for _ in range(min(rounds, 2)))
    return min(median(sample() for _ in range(3)) for _ in range(rounds))


class Bench:
    """Measures texts with one detector and remembers what prose of each size takes."""

    def __init__(self, detector: Detector, rounds: int) -> None:
        self._detector = detector
        self._rounds = rounds
        self._prose: dict[int, float] = {}

    def measure(self, part: str, name: str, text: str) -> Cell:
        size = len(text.encode())
        per_kb = self._per_kb(text, size)
        if size not in self._prose:
            self._prose[size] = self._per_kb(prose(size), size)
        growth = None
        if part == "hostile":
            eighth = text[: len(text) // 8]
            growth = per_kb / self._per_kb(eighth, len(eighth.encode()))
        found = len(self._detector.detect(text))
        return Cell(part, name, size / KB, per_kb, per_kb / self._prose[size], growth, found)

    def _per_kb(self, text: str, size: int) -> float:
        seconds = best_median(lambda: self._detector.detect(text), self._rounds)
        return seconds * 1000 * KB / size


def talks(detector: Detector, sizes: Sequence[int], rounds: int) -> list[dict[str, object]]:
    """The first and the twentieth turn of conversations whose messages have each of these sizes (bytes): milliseconds
    of looking through them, and of the whole protection, which is also measured as it is by default, with the model.
    """
    policy = PolicyRegistry(BUILTIN_POLICIES).get("default")

    def find(protector: Protector, blocks: list[list[MessageField]]) -> object:
        return protector.find(blocks, policy, PrivacyMode.STANDARD, remember_for=CALLER)

    def protect(protector: Protector, blocks: list[list[MessageField]]) -> object:
        return protector.protect(blocks, policy, PrivacyMode.STANDARD, Placeholders(bytes(32)), remember_for=CALLER)

    full = Engines(detector, [NameFinder(BuiltinModel(detector.types))])
    works: tuple[tuple[str, Finder, Work], ...] = (
        ("find", detector, find),
        ("protect", detector, protect),
        ("protect, with the model", full, protect),
    )
    rows: list[dict[str, object]] = [
        {"part": part, "message_kb": size / KB, **_turns(finder, work, size, rounds)}
        for size in sizes
        for part, finder, work in works
    ]
    return rows


def model(detector: Detector, rounds: int) -> list[dict[str, float]]:
    """Milliseconds of a message with the model of names: one that is new, without the model, and when it was seen."""
    policy = PolicyRegistry(BUILTIN_POLICIES).get("default")
    names = NameFinder(BuiltinModel(detector.types))
    rows = []
    for kb in (1, 10):
        times: dict[str, list[float]] = {"new_ms": [], "seen_ms": [], "patterns_ms": []}
        rng = random.Random(kb)
        for _ in range(4 * rounds + 1):
            protector = Protector(Engines(detector, [names]), hash_key=bytes(32), memory=Memory())
            text = _message(kb * KB, rng)
            blocks: list[list[MessageField]] = [[TextField({"text": text}, "text", text)]]
            for name in ("new_ms", "seen_ms", "patterns_ms"):
                began = time.process_time()
                if name == "patterns_ms":
                    detector.detect(text)
                else:
                    protector.find(blocks, policy, PrivacyMode.STANDARD, remember_for=CALLER)
                times[name].append((time.process_time() - began) * 1000)
        rows.append({"kb": kb, **{name: median(some[1:]) for name, some in times.items()}})
    return rows


def _turns(finder: Finder, work: Work, size: int, rounds: int) -> dict[str, float]:
    times: dict[int, list[float]] = {1: [], 20: []}
    for number in range(4 * rounds + 1):
        protector = Protector(finder, hash_key=bytes(32), memory=Memory())
        rng = random.Random(number * 1000 + size)
        # A system message and a question; then the answer before and a question: two new ones each time.
        said = [_message(size, rng) for _ in range(40)]
        for turn in (1, 19, 20):
            blocks: list[list[MessageField]] = [[TextField({"text": text}, "text", text)] for text in said[: 2 * turn]]
            began = time.process_time()
            work(protector, blocks)
            took = (time.process_time() - began) * 1000
            if number and turn in times:
                times[turn].append(took)
    first, last = median(times[1]), median(times[20])
    return {"turn_1_ms": first, "turn_20_ms": last, "ratio": last / first}


def cut(text: str, size: int) -> str:
    """A text of characters that take several bytes is no longer than the others."""
    return text[: len(text) * size // max(size, len(text.encode()))]


def _message(size: int, rng: random.Random) -> str:
    """Prose with a sentence of identifiers in it."""
    return f"{dense(120, rng.randrange(1 << 30))} {prose(size - 121, rng.randrange(1 << 30))}"


def presidio(python: str, texts: dict[str, str], rounds: int) -> dict[str, Any]:
    """The same texts through Presidio. Raises CalledProcessError when that interpreter has none."""
    request = json.dumps({"texts": texts, "rounds": max(3, rounds // 2)})
    command = [python, str(Path(__file__).with_name("presidio_patterns.py"))]
    done = subprocess.run(command, input=request, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def run(options: argparse.Namespace) -> dict[str, Any]:
    """All parts that were asked for, as a JSON document."""
    detector = builtin_detector()
    gc.collect()
    gc.freeze()
    bench = Bench(detector, options.rounds)
    plan: list[tuple[str, str, Maker, int]] = []
    if "texts" in options.only:
        plan += [("texts", name, make, _TEXT_KB * KB) for name, make in ORDINARY.items()]
    if "sizes" in options.only:
        sizes = [size for size in (1, 10, 100, 1024, 10 * 1024) if size <= options.largest * 1024]
        plan += [("sizes", name, ORDINARY[name], size * KB) for name in ("prose", "dense") for size in sizes]
    if "hostile" in options.only:
        size = min(_HOSTILE_KB, int(options.largest * 1024)) * KB
        plan += [("hostile", name, make, size) for name, make in HOSTILE.items()]
    cells = []
    collector = Collector()
    began = time.thread_time()
    with collector.watching(), Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=len(plan) + 1)
        for part, name, make, size in plan:
            cells.append(bench.measure(part, name, cut(make(size), size)))
            progress.advance(task)
        with_model = model(detector, options.rounds) if "model" in options.only else []
        turns = talks(detector, (512, 4096), options.rounds) if "talks" in options.only else []
    seconds = time.thread_time() - began
    result: dict[str, Any] = {
        "detector": detector.version,
        "python": sys.version.split()[0],
        "cells": [asdict(cell) for cell in cells],
        "model": with_model,
        "talks": turns,
        "garbage_collector": {"runs": collector.runs, "share": collector.seconds / seconds},
    }
    if options.presidio:
        texts = {name: make(options.presidio_kb * KB) for name, make in ORDINARY.items()}
        theirs = presidio(options.presidio, texts, options.rounds)
        ours = {name: bench.measure("presidio", name, text).ms_per_kb for name, text in texts.items()}
        result["presidio"] = {
            "version": theirs["version"],
            "texts": [
                {
                    "text": name,
                    "set": chosen,
                    "recognizers": figures["recognizers"],
                    "ms_per_kb": ms / options.presidio_kb,
                    "ours_ms_per_kb": ours[name],
                    "times": ms / options.presidio_kb / ours[name],
                }
                for chosen, figures in theirs["sets"].items()
                for name, ms in figures["ms"].items()
            ],
        }
    return result


def show(result: dict[str, Any], console: Console) -> None:
    """The tables."""
    if cells := result["cells"]:
        right = [Column(name, justify="right") for name in ("KB", "ms per KB", "of prose", "growth", "findings")]
        table = Table("Part", "Text", *right, box=box.SIMPLE)
        for cell in cells:
            growth = "" if cell["growth"] is None else f"{cell['growth']:.2f}"
            shown = (f"{cell['kb']:.0f}", f"{cell['ms_per_kb']:.4f}", f"{cell['of_prose']:.2f}", growth)
            table.add_row(cell["part"], cell["text"], *shown, str(cell["findings"]))
        console.print(table)
    for row in result["model"]:
        console.print(
            f"with the model of names, a message of {row['kb']} KB: new {row['new_ms']:.1f} ms (of it the recognizers "
            f"{row['patterns_ms']:.1f}), seen before {row['seen_ms']:.2f} ms",
            highlight=False,
        )
    for row in result["talks"]:
        console.print(
            f"{row['part']}, messages of {row['message_kb']:.1f} KB: turn 1 {row['turn_1_ms']:.2f} ms, turn 20 "
            f"{row['turn_20_ms']:.2f} ms, ratio {row['ratio']:.2f}",
            highlight=False,
        )
    if theirs := result.get("presidio"):
        right = [Column(name, justify="right") for name in ("Presidio, ms per KB", "ours, ms per KB", "times")]
        table = Table("Text", "Presidio's recognizers", *right, box=box.SIMPLE)
        for row in theirs["texts"]:
            who = f"{row['set']} ({row['recognizers']})"
            figures = (f"{row['ms_per_kb']:.2f}", f"{row['ours_ms_per_kb']:.4f}", f"{row['times']:.0f}")
            table.add_row(row["text"], who, *figures)
        console.print(table)
        console.print(f"presidio-analyzer {theirs['version']}, recognizers that need no model", highlight=False)
    collector = result["garbage_collector"]
    share = f"{100 * collector['share']:.1f} %"
    console.print(f"Garbage collector: {collector['runs']} runs, {share} of the time.", highlight=False)


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(part for part in text.split(",") if part)
    if not set(parts) <= set(PARTS):
        raise ValueError
    return parts


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="medians of which the best is taken")
    parser.add_argument("--largest", type=float, default=10, metavar="MB", help="no text above this size")
    parser.add_argument("--only", type=_parts, default=PARTS, metavar="A,B", help="of " + ", ".join(PARTS))
    parser.add_argument("--presidio", metavar="PYTHON", help="an interpreter that has presidio-analyzer")
    parser.add_argument("--presidio-kb", type=int, default=16, metavar="KB", help="size of the texts for Presidio")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args(arguments)
    with on_one_core():
        result = run(options)
    show(result, Console())
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
