"""The training loop: AdamW, a warm-up and a falling rate, bfloat16 matrices, averaged weights, a curve on disk."""

import json
import math
import os
import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional

from training.encode import Example, batches
from training.features import IGNORED, LABELS
from training.model import Tagger, save

AVERAGE_EVERY = 10
AVERAGE_DECAY = 0.9


@dataclass(frozen=True, slots=True)
class Recipe:
    """Numbers of a run; ``tokens`` is the size of a batch, ``hold`` keeps the rate up for another leg."""

    epochs: int = 1
    tokens: int = 3072
    rate: float = 4e-4
    warmup: int = 80
    decay: float = 0.01
    seed: int = 20240501
    threads: int = 2
    max_minutes: float = 1e9
    hold: bool = False


def _threads(wanted: int) -> int:
    """One thread on a crowded machine, where two would wait for each other most of the time."""
    return wanted if os.getloadavg()[0] < (os.cpu_count() or 1) + 1.2 else 1


def _rate(recipe: Recipe, step: int, done: float) -> float:
    warm = min(1.0, (step + 1) / recipe.warmup)
    return recipe.rate * warm * (1.0 if recipe.hold else 0.5 * (1 + math.cos(math.pi * done)))


def _average(average: Tagger, model: Tagger, step: int) -> None:
    """Moves the average towards the weights; early on quicker, so that it never lags behind the warm-up."""
    decay = min(AVERAGE_DECAY, step / (step + 10 * AVERAGE_EVERY))
    with torch.no_grad():
        for kept, new in zip(average.parameters(), model.parameters(), strict=True):
            kept.lerp_(new, 1 - decay)


def train(model: Tagger, examples: Sequence[Example], recipe: Recipe, folder: Path) -> Tagger:
    """Trains in place and returns the averaged weights, which also go to ``weights.pt`` every 100 steps.

    ``curve.jsonl`` gets step, loss, minutes and rate. The rate falls to nothing over the planned steps, or over
    ``max_minutes`` where that comes first.
    """
    torch.manual_seed(recipe.seed)
    folder.mkdir(parents=True, exist_ok=True)
    plain = [p for p in model.parameters() if p.ndim < 2]
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    groups = [{"params": matrices, "weight_decay": recipe.decay}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98), eps=1e-6, fused=True)
    total = recipe.epochs * sum(len(example.ids) for example in examples) / (0.95 * recipe.tokens)
    average = deepcopy(model).eval()
    began = time.monotonic()
    running, step, done = 0.0, 0, 0.0
    model.train()
    with (folder / "curve.jsonl").open("w", encoding="utf-8") as curve:
        for epoch in range(recipe.epochs):
            for ids, mask, types, labels in batches(examples, recipe.tokens, recipe.seed + epoch):
                minutes = (time.monotonic() - began) / 60
                done = max(min(0.999, step / total), minutes / recipe.max_minutes)
                if done >= 1:
                    break
                if step % 10 == 0:
                    torch.set_num_threads(_threads(recipe.threads))
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
                if step % AVERAGE_EVERY == 0:
                    _average(average, model, step)
                if step % 25 == 0:
                    line = {"step": step, "of": int(total), "loss": round(running / 25, 4)}
                    line |= {"minutes": round(minutes, 1), "rate": round(rate, 6)}
                    curve.write(json.dumps(line) + "\n")
                    curve.flush()
                    running = 0.0
                if step % 100 == 0:
                    save(average, folder / "weights.pt")
            if done >= 1:
                break
    save(average, folder / "weights.pt")
    return average
