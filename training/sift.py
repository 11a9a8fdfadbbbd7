"""Leaves out generated text that the model knows: reading costs a third of learning, and most of it is known."""

import random
from collections.abc import Sequence

import torch
from torch.nn import functional

from training.encode import Example, stacked
from training.features import IGNORED
from training.model import Tagger

KNOWN = 0.5
KEPT = 0.2


def sifted(model: Tagger, examples: Sequence[Example], chance: random.Random) -> list[Example]:
    """Examples with a token whose label the model gives less than ``KNOWN``, and every fifth of the others."""
    kept: list[Example] = []
    order = sorted(examples, key=lambda example: len(example.ids))
    for low in range(0, len(order), 64):
        part = order[low : low + 64]
        ids, mask, types, labels = stacked(part)
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            logits = model(ids, mask, types).float()
        loss = functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none")
        hard = (-loss).exp().amin(dim=1) < KNOWN
        kept += [one for one, is_hard in zip(part, hard.tolist(), strict=True) if is_hard or chance.random() < KEPT]
    return kept
