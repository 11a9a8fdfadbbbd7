"""The training loop: workers of one thread each, held together by elastic averaging.

Two threads of one process wait for each other at every matrix; on a crowded machine they do little else. So each worker
trains a copy on its own share of the text, and every few steps copy and common weights move towards each other (EASGD:
Zhang, Choromanska, LeCun, 2015). The common weights are what comes out.
"""

import itertools
import json
import math
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from multiprocessing.synchronize import Lock
from pathlib import Path

import torch
from torch import multiprocessing
from torch.nn import functional

from training.encode import Example, batches
from training.features import IGNORED, LABELS
from training.model import Tagger, save

# A worker's number, how many helpings it has had, its model, and how much of the run is done, to its next helping.
Text = Callable[[int, int, Tagger, float], Sequence[Example]]
MEET_EVERY = 8
PULL = 0.4


@dataclass(frozen=True, slots=True)
class Recipe:
    """Numbers of a run; ``tokens`` is the size of a batch, ``steps`` how many a worker takes at most."""

    steps: int = 4000
    minutes: float = 1e9
    tokens: int = 3072
    rate: float = 4e-4
    warmup: int = 80
    decay: float = 0.01
    seed: int = 20240501
    workers: int = 2


def _rate(recipe: Recipe, step: int, done: float) -> float:
    return recipe.rate * min(1.0, (step + 1) / recipe.warmup) * 0.5 * (1 + math.cos(math.pi * done))


def _meet(common: Tagger, model: Tagger, lock: Lock, step: int) -> None:
    """Moves the common weights and a worker's towards each other; at first the common ones follow more closely."""
    pull = max(PULL, 1 - step / (20 * MEET_EVERY)) if step <= 20 * MEET_EVERY else PULL
    with torch.no_grad(), lock:
        for shared, own in zip(common.parameters(), model.parameters(), strict=True):
            difference = own - shared
            shared.add_(difference, alpha=pull)
            own.sub_(difference, alpha=PULL)


def _work(rank: int, common: Tagger, text: Text, recipe: Recipe, folder: Path, lock: Lock) -> None:
    torch.manual_seed(recipe.seed + rank)
    torch.set_num_threads(1)
    model = deepcopy(common).train()
    plain = [p for p in model.parameters() if p.ndim < 2]
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    groups = [{"params": matrices, "weight_decay": recipe.decay}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98), eps=1e-6, fused=True)
    began = time.monotonic()
    running, step, done = 0.0, 0, 0.0
    with (folder / f"curve.{rank}.jsonl").open("w", encoding="utf-8") as curve:
        for helping in itertools.count():
            examples = text(rank, helping, model, done)
            for ids, mask, types, labels in batches(examples, recipe.tokens, recipe.seed + helping):
                minutes = (time.monotonic() - began) / 60
                done = max(step / recipe.steps, minutes / recipe.minutes)
                if done >= 1:
                    _meet(common, model, lock, step)
                    return
                rate = _rate(recipe, step, done)
                for group in optimizer.param_groups:
                    group["lr"] = rate
                with torch.autocast("cpu", torch.bfloat16):
                    logits = model(ids, mask, types)
                loss = functional.cross_entropy(
                    logits.float().view(-1, len(LABELS)), labels.view(-1), ignore_index=IGNORED, label_smoothing=0.02
                )
                optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                step += 1
                running += float(loss.detach())
                if step % MEET_EVERY == 0:
                    _meet(common, model, lock, step)
                if step % 25 == 0:
                    line = {"step": step, "done": round(done, 3), "loss": round(running / 25, 4)}
                    line |= {"minutes": round(minutes, 1), "rate": round(rate, 6)}
                    curve.write(json.dumps(line) + "\n")
                    curve.flush()
                    running = 0.0
                if rank == 0 and step % 100 == 0:
                    with lock:
                        save(common, folder / "weights.pt")


def train(model: Tagger, text: Text, recipe: Recipe, folder: Path) -> Tagger:
    """Trains in place; the weights also go to ``weights.pt`` every 100 steps, and at the end.

    Each worker writes step, loss, minutes and rate to its ``curve.N.jsonl``. The rate falls to nothing over the planned
    steps, or over ``minutes`` of the clock on the wall where that comes first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model.share_memory()
    context = multiprocessing.get_context("fork")
    lock = context.Lock()
    workers = [
        context.Process(target=_work, args=(rank, model, text, recipe, folder, lock)) for rank in range(recipe.workers)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise RuntimeError("a training worker failed")
    save(model, folder / "weights.pt")
    return model.eval()
