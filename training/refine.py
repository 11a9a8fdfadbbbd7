"""Trains the committed student further on processor cores: `python -m training.refine write`, then `train` and so on.

The student's weights are read back from `student.onnx`; its rounding stays as it is. `write` labels text: source code
by Pygments (code_text.py), templates by what they were filled with (contrasts.py, scripts.py), and all else by the
present cascade of both models, so that nothing is forgotten. `train` draws whole documents. `average` takes the mean
with the committed weights, which brings back most of what is forgotten even so.
"""

import argparse
import json
import math
import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import torch
from gateway.detection import builtin_detector
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.inference import Chances
from gateway.detection.ner.unit_features import FEATURES
from gateway.detection.ner.units import UnitReader, Units
from gateway.detection.source_code import SourceCode
from numpy.typing import NDArray
from onnx import numpy_helper

from training.code_text import code
from training.contrasts import contrasts
from training.corpora import Document, training_corpora
from training.distil_text import texts
from training.features import LABELS, Span, bio
from training.generate import labelled
from training.prose import plain, prose, stretches
from training.scripts import documents
from training.student import DILATIONS, REACH, Student, build, load

ROOT = Path(__file__).parent.parent
WORK = ROOT / "training" / "build" / "refine"
MODEL = ROOT / "gateway" / "detection" / "ner" / "model"
SHARPNESS = 3
COUNTS = {
    "code": 5_000,
    "contrasts": 12_000,
    "technical": 1_000,
    "generated": 6_000,
    "labelled": 1,
    "kept": 16_000,
    "scripts": 12_000,
    "manuals": 3_000,
    "foreign": 3_000,
}
"""Documents of each kind, and helpings of the labelled text; on those `kept` the student shall stay as it is."""
LEFT_OUT = (0.08, 0.05, 0.05, 0.05, 0.05, 0.01)
_HELD_OUT = 60
"""One in so many documents only measures."""
_TOGETHER = 24
_WARM_UP = 60


class Example(NamedTuple):
    """A document for the student: features and targets of its units."""

    rows: NDArray[np.int32]
    targets: NDArray[np.float16]


class Teacher(BuiltinModel):
    """The models that the gateway has, as they are before any correction."""

    def answers(
        self, some: Sequence[str], code: Sequence[bytes], *, alone: bool = False
    ) -> list[tuple[Units, Chances]]:
        """Returns units and probabilities of each text, whose characters in `code` are none for certain.

        The transformer's answers are sharpened as in `drawn.py`; `alone` leaves it out.
        """
        own = self._reader.read_all(some)
        ends = np.cumsum([0, *map(len, own)]).tolist()
        rows = [slice(*each) for each in pairwise(ends)]
        chances = self._student.chances(own)
        for units, each, marks in zip(own, rows, code, strict=True):
            _none(chances[each], _is_marked(units, marks))
        before = chances.copy()
        if not alone:
            again = self._second_readings(some, own, rows, chances)
            self._read_again(some, own, [chances[each] for each in rows], again)
        changed = (chances != before).any(axis=1)
        sharp = chances[changed].clip(0) ** SHARPNESS
        chances[changed] = sharp / sharp.sum(axis=1, keepdims=True).clip(1e-9)
        for units, each, marks in zip(own, rows, code, strict=True):
            _none(chances[each], _is_marked(units, marks))
        return [(units, chances[each]) for units, each in zip(own, rows, strict=True)]


def _none(targets: Chances, where: NDArray[np.bool_]) -> None:
    targets[where] = 0
    targets[where, 0] = 1


def _of_spans(units: Units, spans: Sequence[Span]) -> Chances:
    labels = np.array(bio(units.offsets, spans), np.int64)
    return np.eye(len(LABELS), dtype=np.float32)[labels]


def _is_marked(units: Units, marks: bytes) -> NDArray[np.bool_]:
    count = np.concatenate([[0], np.cumsum(np.frombuffer(marks, np.uint8), dtype=np.int64)])
    return count[units.ends] > count[units.starts]


def _taught(
    some: Iterator[str], teacher: Teacher, *, code_is_none: bool = False, alone: bool = False
) -> Iterator[Example]:
    for group in _groups(some):
        marks = [_marks(text) if code_is_none else bytes(len(text)) for text in group]
        for units, chances in teacher.answers(group, marks, alone=alone):
            yield Example(units.rows, chances.astype(np.float16))


def _marks(text: str) -> bytes:
    marks = bytearray(len(text))
    for start, end in SourceCode(text).stretches():
        marks[start:end] = b"\1" * (end - start)
    return bytes(marks)


def _coded(folder: Path, count: int, seed: int, teacher: Teacher) -> Iterator[Example]:
    for group in _groups(code(folder, count, seed)):
        answers = teacher.answers([one.text for one in group], [one.marks for one in group])
        for one, (units, chances) in zip(group, answers, strict=True):
            own = _of_spans(units, one.spans)
            named = own[:, 0] == 0
            chances[named] = own[named]
            yield Example(units.rows, chances.astype(np.float16))


def _own(some: Iterator[Document], reader: UnitReader) -> Iterator[Example]:
    for document in some:
        (units,) = reader.read_all([document.text])
        yield Example(units.rows, _of_spans(units, document.spans).astype(np.float16))


def _foreign_manuals(folder: Path, count: int, seed: int) -> Iterator[Document]:
    """Stretches of manuals in other scripts, which name no one."""
    chance = random.Random(seed)
    files = [file for language in sorted((folder / "other").iterdir()) for file in sorted(language.rglob("*.html"))]
    for file in chance.sample(files, min(len(files), count)):
        pieces = [*stretches(plain(file.read_text("utf-8"), "\n"), chance)]
        if pieces:
            yield Document(chance.choice(pieces), ())


def _groups[T](some: Iterator[T]) -> Iterator[list[T]]:
    group: list[T] = []
    for one in some:
        group.append(one)
        if len(group) == _TOGETHER:
            yield group
            group = []
    if group:
        yield group


def _examples(part: int, sources: argparse.Namespace) -> Iterator[tuple[str, Iterator[Example]]]:
    """Yields the kinds of text; none is read before its turn."""
    teacher = Teacher(builtin_detector().types)
    reader = UnitReader(MODEL / "ordinary.txt", MODEL / "given.txt")
    share = sources.size / sources.parts
    many = {kind: math.ceil(count * share) for kind, count in COUNTS.items()}
    seed = 100 * sources.seed + part
    chance = random.Random(seed)
    said = {"generated": 80, "said": 20}
    kept = {"generated": 45, "said": 10, "technical": 45}

    def helping() -> Iterator[str]:
        some = labelled(training_corpora(sources.data), chance, other_names=0.6)
        yield from (one.text for one in chance.sample(some, int(len(some) * min(1.0, share * COUNTS["labelled"]))))

    def manuals() -> Iterator[str]:
        some = [one.document.text for one in prose(sources.prose, seed)]
        yield from chance.sample(some, min(len(some), many["manuals"]))

    yield "contrasts", _own(contrasts(many["contrasts"], seed), reader)
    yield "scripts", _own(documents(many["scripts"], seed), reader)
    yield "code", _coded(sources.code, many["code"], seed, teacher)
    yield "generated", _taught(texts(many["generated"], seed, said), teacher)
    yield "technical", _taught(texts(many["technical"], seed, {"technical": 1}), teacher, code_is_none=True)
    yield "labelled", _taught(helping(), teacher)
    yield "kept", _taught(texts(many["kept"], seed + 50, kept), teacher, code_is_none=True, alone=True)
    yield "manuals", _taught(manuals(), teacher, alone=True)
    yield "foreign", _own(_foreign_manuals(sources.prose, many["foreign"], seed), reader)


def _write_part(part: int, sources: argparse.Namespace) -> None:
    for kind, some in _examples(part, sources):
        if kind not in sources.kinds:
            continue
        kept = [one for one in some if len(one.rows)]
        np.savez(
            sources.work / f"{kind}.{sources.seed}.{part}.npz",
            rows=np.concatenate([one.rows for one in kept]),
            targets=np.concatenate([one.targets for one in kept]),
            lengths=np.array([len(one.rows) for one in kept], np.int64),
            kind=np.array(kind),
        )
        print(kind, sum(len(one.rows) for one in kept), "units", time.strftime("%X"), flush=True)


class Text:
    """All documents of the parts, one after the other."""

    def __init__(self, work: Path) -> None:
        parts = [np.load(file) for file in sorted(work.glob("*.npz"))]
        self.rows = np.concatenate([part["rows"] for part in parts])
        self.targets = np.concatenate([part["targets"] for part in parts])
        self.kinds = np.concatenate([np.repeat(part["kind"], len(part["lengths"])) for part in parts])
        lengths = np.concatenate([part["lengths"] for part in parts])
        self.starts = np.concatenate([[0], np.cumsum(lengths)])

    def batch(self, some: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns rows, mask and targets `[1, length, …]` of some documents, with room that no layer sees across."""
        lengths = [int(self.starts[one + 1] - self.starts[one]) for one in some]
        size = sum(lengths) + REACH * len(some)
        rows = np.zeros((1, size, FEATURES), np.int64)
        mask, targets = np.zeros((1, size), np.float32), np.zeros((1, size, len(LABELS)), np.float32)
        at = 0
        for one, length in zip(some, lengths, strict=True):
            place = slice(self.starts[one], self.starts[one + 1])
            rows[0, at : at + length] = self.rows[place]
            targets[0, at : at + length] = self.targets[place]
            mask[0, at : at + length] = 1
            at += length + REACH
        return torch.from_numpy(rows), torch.from_numpy(mask), torch.from_numpy(targets)


def read_back(file: Path) -> Student:
    """Returns the student of an exported graph, with its steps."""
    stored = {one.name: numpy_helper.to_array(one) for one in onnx.load(file).graph.initializer}
    student = Student()
    last = len(DILATIONS)
    steps = [stored["summed.scale"], *(stored[f"layer{number}.step"] for number in range(last + 1))]
    vectors = (stored["vectors"].astype(np.float32) - 128) * stored["summed.scale"]
    state = {"vectors": vectors, "steps": np.array([float(step) for step in steps], np.float32)}
    for number in range(last + 1):
        name = f"layer{number}.mixed"
        state[f"layers.{number}.mix.weight"] = (stored[f"{name}.w"] * stored[f"{name}.w.scale"]).T.astype(np.float32)
        state[f"layers.{number}.mix.bias"] = stored[f"{name}.b"]
    student.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()})
    return student


def _loss(student: Student, batch: tuple[torch.Tensor, ...], kept: torch.Tensor | None = None) -> torch.Tensor:
    rows, mask, targets = batch
    losses = -(targets * torch.log_softmax(student(rows, mask, kept), dim=-1)).sum(dim=-1)
    return (losses * mask).sum() / mask.sum()


def _measured(student: Student, text: Text, valid: NDArray[np.int64]) -> dict[str, list[float]]:
    """For each kind: the loss, and how many in a million units are taken for an entity wrongly, and missed."""
    result: dict[str, list[float]] = {}
    with torch.no_grad():
        for kind in sorted(set(text.kinds[valid].tolist())):
            batch = text.batch([int(one) for one in valid[text.kinds[valid] == kind]][:400])
            best, right = student(*batch[:2]).argmax(-1), batch[2].argmax(-1)
            there = batch[1] > 0
            wrong = ((best > 0) & (right == 0) & there).sum() / there.sum()
            missed = ((best == 0) & (right > 0) & there).sum() / there.sum()
            result[kind] = [
                round(float(_loss(student, batch)), 4),
                round(1e6 * float(wrong)),
                round(1e6 * float(missed)),
            ]
    return result


def train(text: Text, student: Student, work: Path, minutes: float, units: int, rate: float) -> None:
    """Trains for `minutes`, in which the rate falls to zero. Writes `student.pt`."""
    numbers = np.arange(len(text.kinds))
    valid, own = numbers[numbers % _HELD_OUT == 0], numbers[numbers % _HELD_OUT != 0]
    chance = np.random.default_rng(7)
    order: list[int] = []
    vectors, others = [student.vectors], [one for name, one in student.named_parameters() if name != "vectors"]
    groups = [{"params": vectors, "rate": rate}, {"params": others, "rate": 0.5 * rate}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    left_out = torch.tensor(LEFT_OUT)
    began, step, read = time.monotonic(), 0, 0
    with (work / "curve.jsonl").open("w", encoding="utf-8") as curve:
        while (done := (time.monotonic() - began) / 60 / minutes) < 1:
            if step % 100 == 0:
                print(
                    json.dumps({"step": step, "units": read, **_measured(student, text, valid)}), file=curve, flush=True
                )
                torch.save(student.state_dict(), work / "student.pt")
            for group in optimizer.param_groups:
                group["lr"] = group["rate"] * min(1.0, (step + 1) / _WARM_UP) * 0.5 * (1 + math.cos(math.pi * done))
            some: list[int] = []
            size = 0
            while size < units:
                order = order or chance.permutation(own).tolist()
                some.append(order.pop())
                size += int(text.starts[some[-1] + 1] - text.starts[some[-1]])
            batch = text.batch(some)
            optimizer.zero_grad(set_to_none=True)
            kept = torch.rand(batch[0].shape) >= left_out
            _loss(student, batch, kept).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
            optimizer.step()
            step, read = step + 1, read + size
        print(json.dumps({"step": step, "units": read, **_measured(student, text, valid)}), file=curve, flush=True)
    torch.save(student.state_dict(), work / "student.pt")


def main() -> None:
    """Reads the command line and runs a stage."""
    parser = argparse.ArgumentParser(prog="python -m training.refine", description=__doc__)
    parser.add_argument("stage", choices=("write", "train", "average", "export"))
    parser.add_argument("--code", type=Path, help="folder of packages with source code (code_text.py)")
    parser.add_argument("--prose", type=Path, help="folder of manuals (prose.py); `other` holds those in other scripts")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of labelled files")
    parser.add_argument("--work", type=Path, default=WORK, help="labelled text, weights and learning curve")
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of the result")
    parser.add_argument("--size", type=float, default=1.0, help="share of the text to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=COUNTS, default=[*COUNTS], help="kinds of text to write")
    parser.add_argument("--parts", type=int, default=2, help="processes that write")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=35)
    parser.add_argument("--units", type=int, default=32_768, help="units of a step")
    parser.add_argument("--rate", type=float, default=6e-4)
    parser.add_argument("--share", type=float, default=0.8, help="of the new weights in the average with the old")
    parser.add_argument("--start", type=Path, help="weights of an earlier run instead of the committed ones")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.stage == "write":
        workers = [multiprocessing.Process(target=_write_part, args=(part, options)) for part in range(options.parts)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    elif options.stage == "train":
        torch.manual_seed(7)
        torch.set_num_threads(options.threads)
        student = read_back(MODEL / "student.onnx") if options.start is None else load(options.start).train()
        train(Text(options.work), student, options.work, options.minutes, options.units, options.rate)
    elif options.stage == "average":
        old, new = (one.state_dict() for one in (read_back(MODEL / "student.onnx"), load(options.work / "student.pt")))
        mean = {name: torch.lerp(old[name], new[name], options.share) for name in old}
        torch.save(mean, options.work / "student.pt")
    else:
        onnx.save(build(load(options.work / "student.pt")), options.model / "student.onnx")


if __name__ == "__main__":
    main()
