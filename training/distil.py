"""Trains the student on the transformer's answers: `python -m training.distil read`, then `train`, then `export`.

`read` writes shards of tokens with the probabilities that the transformer gives them; a seed gives the same shard
again. `train` follows the probabilities, sharpened, since the transformer's choice matters more than its doubts.
"""

import argparse
import itertools
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, multiprocessing
from torch.nn import functional

from training.artefact import Artefact
from training.corpora import training_corpora
from training.distil_text import texts
from training.features import LABELS, bio, token_types, without_unknown
from training.scripts import documents
from training.student import REACH, Student, build, from_table, load, scales

ROOT = Path(__file__).parent.parent
WORK = ROOT / "training" / "build" / "distil"
MODEL = ROOT / "gateway" / "detection" / "ner" / "model"
TEXTS = 6000
"""Texts of a shard beside the labelled ones: about 1.5 million tokens."""
LONGEST = 320
SHARPNESS = 3
VALIDATION = 0
"""The shard that is not trained on, a sixth as large."""
_OVERLAP = 14
_SCRIPTS = 1000
"""Seed of the first shard of text in other scripts."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Tokens of many texts in a row; text `i` is `ends[i - 1]:ends[i]`."""

    ids: NDArray[np.uint16]
    types: NDArray[np.uint8]
    chances: NDArray[np.uint8]
    ends: NDArray[np.int64]

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Windows of at most `LONGEST` tokens."""
        start = 0
        for end in self.ends.tolist():
            while end - start > LONGEST:
                yield start, start + LONGEST
                start += LONGEST - 2 * REACH
            if end > start:
                yield start, end
            start = end


def read_shard(seed: int, folder: Path, data: Path, model: Path) -> None:
    """Writes one shard."""
    teacher = Artefact(model, overlap=_OVERLAP)
    ids: list[int] = []
    types: list[int] = []
    chances: list[NDArray[np.uint8]] = []
    ends: list[int] = []
    for text in texts(TEXTS // 6 if seed == VALIDATION else TEXTS, seed, training_corpora(data)):
        tokens = teacher.tokenizer.encode(text, add_special_tokens=False)
        if not tokens.ids:
            continue
        _, answer = teacher.probabilities(text)
        ids += tokens.ids
        types += token_types(text, tokens.offsets)
        chances.append(np.rint(answer * 255).astype(np.uint8))
        ends.append(len(ids))
    _write(folder / f"shard_{seed}.npz", ids, types, chances, ends)


def read_scripts(seed: int, folder: Path, model: Path) -> None:
    """Writes a shard of text in other scripts with its own labels, which the transformer would not know."""
    tokenizer = Artefact(model).tokenizer
    ids: list[int] = []
    types: list[int] = []
    chances: list[NDArray[np.uint8]] = []
    ends: list[int] = []
    for document in documents(TEXTS, seed):
        tokens = tokenizer.encode(document.text, add_special_tokens=False)
        own_ids, own_types, offsets = without_unknown(
            document.text, tokens.ids, token_types(document.text, tokens.offsets), tokens.offsets
        )
        ids += own_ids
        types += own_types
        chances.append(255 * np.eye(len(LABELS), dtype=np.uint8)[bio(offsets, document.spans)])
        ends.append(len(ids))
    _write(folder / f"shard_{seed}.npz", ids, types, chances, ends)


def _write(
    file: Path, ids: Sequence[int], types: Sequence[int], chances: Sequence[NDArray[np.uint8]], ends: Sequence[int]
) -> None:
    unfinished = file.with_suffix(".tmp.npz")
    np.savez(
        unfinished,
        ids=np.array(ids, np.uint16),
        types=np.array(types, np.uint8),
        chances=np.concatenate(chances),
        ends=np.array(ends, np.int64),
    )
    # At once, since `train` may be looking for new shards.
    unfinished.rename(file.with_name(file.name))
    print(f"{file.stem}: {len(ends)} texts, {len(ids)} tokens", flush=True)


def load_shard(file: Path) -> Shard:
    """A shard that `read_shard` wrote."""
    with np.load(file) as stored:
        return Shard(stored["ids"], stored["types"], stored["chances"], stored["ends"])


type Batch = tuple[Tensor, Tensor, Tensor, Tensor]


def stacked(shard: Shard, pieces: Sequence[tuple[int, int]]) -> Batch:
    """Windows as one batch: ids, types, mask, the transformer's probabilities."""
    width = max(end - start for start, end in pieces)
    ids = np.zeros((len(pieces), width), np.int64)
    types = np.zeros_like(ids)
    mask = np.zeros((len(pieces), width), np.float32)
    chances = np.zeros((len(pieces), width, len(LABELS)), np.float32)
    for row, (start, end) in enumerate(pieces):
        ids[row, : end - start] = shard.ids[start:end]
        types[row, : end - start] = shard.types[start:end]
        mask[row, : end - start] = 1
        chances[row, : end - start] = shard.chances[start:end]
    return torch.from_numpy(ids), torch.from_numpy(types), torch.from_numpy(mask), torch.from_numpy(chances / 255)


def batches(shards: Sequence[Shard], tokens: int, chance: random.Random) -> Iterator[Batch]:
    """All of the shards in batches of about `tokens` tokens, windows of like length together, in random order."""
    groups: list[tuple[Shard, list[tuple[int, int]]]] = []
    for shard in shards:
        group: list[tuple[int, int]] = []
        for piece in sorted(shard.pieces(), key=lambda piece: (piece[1] - piece[0], chance.random())):
            if group and (piece[1] - piece[0]) * (len(group) + 1) > tokens:
                groups.append((shard, group))
                group = []
            group.append(piece)
        groups.append((shard, group))
    chance.shuffle(groups)
    for shard, group in groups:
        yield stacked(shard, group)


def loss_of(student: Student, batch: Batch) -> Tensor:
    """Cross entropy with the sharpened probabilities, per token."""
    ids, types, mask, chances = batch
    with torch.autocast("cpu", torch.bfloat16):
        logits = student(ids, types, mask)
    sharp = chances**SHARPNESS
    sharp /= sharp.sum(dim=-1, keepdim=True).clamp_min(1e-6)
    losses = -(sharp * functional.log_softmax(logits.float(), dim=-1)).sum(dim=-1)
    return (losses * mask).sum() / mask.sum()


def train(folder: Path, start: Path | None, minutes: float, tokens: int, rate: float) -> None:
    """Trains on all shards there are, mixed; the rate falls to zero over `minutes`. Writes `student.pt`."""
    files = {file.name: file for file in sorted(folder.glob("shard_*[0-9].npz"))}
    valid = load_shard(files.pop(f"shard_{VALIDATION}.npz"))
    shards = [load_shard(file) for file in files.values()]
    student = from_table(_word_table()) if start is None else load(start).train()
    optimizer = torch.optim.AdamW(student.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    began, step, running = time.monotonic(), 0, 0.0
    with (folder / "curve.jsonl").open("w", encoding="utf-8") as curve:
        for batch in (batch for turn in itertools.count() for batch in batches(shards, tokens, random.Random(turn))):
            done = (time.monotonic() - began) / 60 / minutes
            if done >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1.0, (step + 1) / 200) * 0.5 * (1 + math.cos(math.pi * done))
            loss = loss_of(student, batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
            optimizer.step()
            running += float(loss.detach())
            step += 1
            if step % 100 == 0:
                print(json.dumps({"step": step, "done": round(done, 3), "loss": round(running / 100, 4)}), file=curve)
                running = 0.0
            if step % 1000 == 0:
                _save(student, folder, valid, curve, step)
        _save(student, folder, valid, curve, step)


def _save(student: Student, folder: Path, valid: Shard, curve: TextIO, step: int) -> None:
    right = total = 0
    losses = []
    student.eval()
    with torch.inference_mode():
        for batch in list(batches([valid], 16384, random.Random(0)))[:8]:
            losses.append(float(loss_of(student, batch)))
            ids, types, mask, chances = batch
            agrees = student(ids, types, mask).argmax(dim=-1) == chances.argmax(dim=-1)
            right += int((agrees * mask).sum())
            total += int(mask.sum())
    student.train()
    line = {"step": step, "valid": round(sum(losses) / len(losses), 4), "agrees": round(right / total, 4)}
    print(json.dumps(line), file=curve, flush=True)
    torch.save(student.state_dict(), folder / "student.pt")


def _word_table() -> NDArray[np.float32]:
    """The transformer's word vectors."""
    stored = {one.name: numpy_helper.to_array(one) for one in onnx.load(MODEL / "model.onnx").graph.initializer}
    table: NDArray[np.float32] = stored["words"].astype(np.float32) * stored["words.scale"]
    return table


def export(folder: Path, out: Path) -> None:
    """Writes `student.onnx`; its scales come from text that was not trained on."""
    student = load(folder / "student.pt")
    valid = load_shard(folder / f"shard_{VALIDATION}.npz")
    ids, types, mask, _ = stacked(valid, random.Random(2).sample(list(valid.pieces()), 1000))
    onnx.save(build(student, scales(student, ids, types, mask)), out / "student.onnx")


def main() -> None:
    """Reads the command line and runs a stage."""
    parser = argparse.ArgumentParser(prog="python -m training.distil", description=__doc__)
    parser.add_argument("stage", choices=("read", "train", "export"))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of labelled files")
    parser.add_argument("--work", type=Path, default=WORK, help="shards, weights and learning curve")
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of the transformer, and of the result")
    parser.add_argument("--shards", type=int, default=9)
    parser.add_argument("--scripts", type=int, default=4, help="shards of text in other scripts")
    parser.add_argument("--first", type=int, default=0, help="seed of the first shard")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--start", type=Path, help="weights of an earlier leg")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--tokens", type=int, default=8192, help="tokens of a batch")
    parser.add_argument("--rate", type=float, default=2e-3)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    if arguments.stage == "read":
        with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
            seeds = range(arguments.first, arguments.first + arguments.shards)
            first = _SCRIPTS + arguments.first
            others = [(seed, arguments.work, arguments.model) for seed in range(first, first + arguments.scripts)]
            reading = pool.starmap_async(read_scripts, others, chunksize=1)
            pool.starmap(
                read_shard, [(seed, arguments.work, arguments.data, arguments.model) for seed in seeds], chunksize=1
            )
            reading.get()
    elif arguments.stage == "train":
        torch.manual_seed(1)
        train(arguments.work, arguments.start, arguments.minutes, arguments.tokens, arguments.rate)
    else:
        export(arguments.work, arguments.model)


if __name__ == "__main__":
    main()
