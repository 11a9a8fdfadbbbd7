"""Trains the student on the transformer's answers: `python -m training.distil write`, then `train`, then `export`.

`write` numbers the text (numbered.py). `train` draws windows of it, puts other words into them, has the transformer
label them, and learns: what it reads is never twice the same. It runs on a GPU if there is one. Towards the end the
student is rounded as in the graph, so that it learns to live with that.
"""

import argparse
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
import onnx
import torch
from torch import Tensor
from torch.nn import functional

from training.corpora import Document, training_corpora
from training.distil_text import texts
from training.drawn import Batch, Corpus, teacher
from training.generate import labelled
from training.model import Tagger
from training.numbered import ORDER, Numbering, Source, Stream, cased, classes, guessed, vocabularies
from training.prose import prose
from training.scripts import documents
from training.student import Student, build, load

ROOT = Path(__file__).parent.parent
WORK = ROOT / "training" / "build" / "distil"
MODEL = ROOT / "gateway" / "detection" / "ner" / "model"
TEXTS, SCRIPTS, LABELLED = 300_000, 110_000, 24
"""Texts of `distil_text`, texts in other scripts, and helpings of the labelled text."""
OWN = 0.075
"""Windows in other scripts, with labels of their own, for each other one."""
# How often the vector of a feature is left out, so that no word is known by a single one; the form nearly never is.
LEFT_OUT = (0.15, 0.1, 0.1, 0.1, 0.1, 0.02)
ROUNDED_FROM, FINE_FROM = 0.65, 0.8
"""Shares of the time after which values are rounded, and after which half as much is left out."""
_WARM_UP = 300
_PARTS = 2
_WORD = re.compile(r"[^\W\d_]{4,30}")


def _sources(data: Path, manuals: Path | None, size: float) -> Iterator[Source]:
    real = training_corpora(data)
    chance = random.Random("distil")
    for text in texts(int(TEXTS * size), 1):
        yield Source(Document(text, ()))
    for _ in range(math.ceil(LABELLED * size)):
        yield from (Source(Document(one.text, ())) for one in labelled(real, chance, other_names=0.6))
    for document in documents(int(SCRIPTS * size), 1):
        yield Source(document, own=True)
    if manuals is not None:
        yield from prose(manuals)


def write(file: Path, data: Path, manuals: Path | None, model: Path, size: float) -> None:
    """Writes all text as numbers."""
    sources = list(_sources(data, manuals, size))
    random.Random(1).shuffle(sources)
    counts: list[Counter[str]] = [Counter() for _ in ORDER]
    numbering, taught, own = Numbering(model), Stream(), Stream()
    for source in sources:
        numbering.add(source, taught, own)
        if source.language is not None:
            counts[source.language].update(_WORD.findall(source.document.text))
    vocabulary = vocabularies(numbering, counts)
    kinds = classes(numbering, vocabulary)
    guessed(taught, list(numbering.ids), vocabulary)
    forms = cased(numbering, np.concatenate(taught.atoms))
    surfaces = np.frombuffer("\n".join(numbering.ids).encode("utf-8", "surrogatepass"), np.uint8)
    arrays = taught.arrays("taught") | own.arrays("own") | kinds.arrays() | forms | {"surfaces": surfaces}
    np.savez(file, **arrays)  # type: ignore[arg-type]
    print(f"{len(sources)} texts, {taught.ends[-1] + own.ends[-1]} atoms, {len(numbering.ids)} of them distinct")


def _batches(corpus: Corpus, name: str, count: int, tagger: Tagger, *, valid: bool = False) -> Iterator[Batch]:
    for window in corpus.sorted(corpus.draw(name, count, valid=valid, change=not valid), _PARTS):
        yield corpus.labelled(name, window, tagger)


def loss_of(student: Student, batch: Batch, kept: Tensor | None = None) -> Tensor:
    """The sum of the units' cross entropies with their targets."""
    with torch.autocast(batch.rows.device.type, torch.bfloat16):
        logits = student(batch.rows, batch.mask, kept)
    losses = -(batch.targets * functional.log_softmax(logits.float(), dim=-1)).sum(dim=-1)
    return (losses * batch.weights).sum()


def train(corpus: Corpus, tagger: Tagger, folder: Path, minutes: float, windows: int, rate: float) -> None:
    """Trains for `minutes`, in which the rate falls to zero. Writes `student.pt`."""
    device = corpus.device
    student = Student().to(device)
    vectors = [student.vectors]
    others = [one for name, one in student.named_parameters() if name != "vectors"]
    optimizer = torch.optim.AdamW(
        [{"params": vectors, "rate": rate}, {"params": others, "rate": 0.6 * rate}],
        betas=(0.9, 0.98),
        weight_decay=0.0,
        fused=True,
    )
    valid = [*_batches(corpus, "taught", 8 * windows, tagger, valid=True)]
    left_out = torch.tensor(LEFT_OUT, device=device)
    began, step = time.monotonic(), 0
    with (folder / "curve.jsonl").open("w", encoding="utf-8") as curve:
        while (done := (time.monotonic() - began) / 60 / minutes) < 1:
            if done > ROUNDED_FROM and not student.steps.any():
                student.set_steps(valid[-1].rows[:512], valid[-1].mask[:512])
            for group in optimizer.param_groups:
                group["lr"] = group["rate"] * min(1.0, (step + 1) / _WARM_UP) * 0.5 * (1 + math.cos(math.pi * done))
            batches = [*_batches(corpus, "taught", windows, tagger)]
            if "own" in corpus.streams:
                batches += _batches(corpus, "own", max(_PARTS, int(OWN * windows)), tagger)
            total = sum(float(batch.weights.sum()) for batch in batches)
            optimizer.zero_grad(set_to_none=True)
            for batch in batches:
                missing = left_out * (1.0 if done < FINE_FROM else 0.5)
                kept = torch.rand(batch.rows.shape, device=device) >= missing
                (loss_of(student, batch, kept) / total).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 500 == 0:
                _save(student, folder, valid, curve, step)
        _save(student, folder, valid, curve, step)


def _save(student: Student, folder: Path, valid: list[Batch], curve: TextIO, step: int) -> None:
    loss = right = total = 0.0
    student.eval()
    with torch.inference_mode():
        for batch in valid:
            loss += float(loss_of(student, batch))
            agrees = student(batch.rows, batch.mask).argmax(dim=-1) == batch.targets.argmax(dim=-1)
            right += float((agrees * batch.weights).sum())
            total += float(batch.weights.sum())
    student.train()
    line = {"step": step, "valid": round(loss / total, 4), "agrees": round(right / total, 4)}
    print(json.dumps(line), file=curve, flush=True)
    torch.save(student.state_dict(), folder / "student.pt")


def main() -> None:
    """Reads the command line and runs a stage."""
    parser = argparse.ArgumentParser(prog="python -m training.distil", description=__doc__)
    parser.add_argument("stage", choices=("write", "train", "export"))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of labelled files")
    parser.add_argument("--prose", type=Path, help="folder of manuals (prose.py)")
    parser.add_argument("--work", type=Path, default=WORK, help="text as numbers, weights and learning curve")
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of the transformer, and of the result")
    parser.add_argument("--size", type=float, default=1.0, help="share of the text to write")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--windows", type=int, default=1280, help="windows of a step")
    parser.add_argument("--rate", type=float, default=2.5e-3)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    if arguments.stage == "write":
        write(arguments.work / "corpus.npz", arguments.data, arguments.prose, arguments.model, arguments.size)
    elif arguments.stage == "train":
        torch.manual_seed(7)
        device = torch.device(arguments.device)
        corpus = Corpus(arguments.work / "corpus.npz", arguments.model, device)
        tagger = teacher(arguments.model).to(device, torch.bfloat16 if device.type == "cuda" else torch.float32)
        train(corpus, tagger, arguments.work, arguments.minutes, arguments.windows, arguments.rate)
    else:
        onnx.save(build(load(arguments.work / "student.pt")), arguments.model / "student.onnx")


if __name__ == "__main__":
    main()
