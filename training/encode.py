"""Documents to model inputs: tokenised once, cut into windows, batched by length."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.corpora import Document
from training.features import IGNORED, bio, token_types
from training.model import base_folder

MASK = 103  # the base's own sign for a word that it cannot see


@dataclass(frozen=True, slots=True)
class Example:
    """Parallel lists of one window, special tokens included."""

    ids: list[int]
    types: list[int]
    labels: list[int]


def tokenizer() -> Tokenizer:
    """The base's tokenizer without truncation and padding."""
    loaded = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def encode(documents: Sequence[Document], window: int = 128, stride: int = 96) -> list[Example]:
    """Windows of at most ``window`` tokens; a long document gives several, ``stride`` apart."""
    examples: list[Example] = []
    encoder = tokenizer()
    for low in range(0, len(documents), 2000):
        part = documents[low : low + 2000]
        for document, encoding in zip(part, encoder.encode_batch([d.text for d in part]), strict=True):
            ids, offsets = encoding.ids, encoding.offsets
            types = token_types(document.text, offsets)
            labels = bio(offsets, document.spans, document.ignored)
            body = len(ids) - 2
            room = window - 2
            for start in range(0, max(1, body - room + stride), stride):
                piece = slice(start + 1, min(start + room, body) + 1)
                if piece.start >= piece.stop:
                    break
                examples.append(
                    Example([ids[0], *ids[piece], ids[-1]], [0, *types[piece], 0], [IGNORED, *labels[piece], IGNORED])
                )
                if piece.stop >= body + 1:
                    break
    return examples


def blurred(examples: Sequence[Example], chance: random.Random, share: float = 0.1) -> list[Example]:
    """Every other example with a share of its tokens masked, so that text seen many times is not learnt by heart."""
    return [
        replace(e, ids=[e.ids[0], *(MASK if chance.random() < share else i for i in e.ids[1:-1]), e.ids[-1]])
        if chance.random() < 0.5
        else e
        for e in examples
    ]


def stacked(examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Examples as one batch: ids, mask, types, labels."""
    width = max(len(example.ids) for example in examples)
    ids = torch.zeros((len(examples), width), dtype=torch.long)
    mask, types = torch.zeros_like(ids), torch.zeros_like(ids)
    labels = torch.full_like(ids, IGNORED)
    for row, example in enumerate(examples):
        length = len(example.ids)
        ids[row, :length] = torch.tensor(example.ids)
        mask[row, :length] = 1
        types[row, :length] = torch.tensor(example.types)
        labels[row, :length] = torch.tensor(example.labels)
    return ids, mask, types, labels


def batches(examples: Sequence[Example], tokens: int, seed: int) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Shuffled batches of about ``tokens`` tokens, of like length."""
    chance = random.Random(seed)
    order = list(range(len(examples)))
    chance.shuffle(order)
    groups: list[list[int]] = []
    pool = 4000
    for low in range(0, len(order), pool):
        part = sorted(order[low : low + pool], key=lambda i: len(examples[i].ids))
        group: list[int] = []
        for index in part:
            if group and len(examples[index].ids) * (len(group) + 1) > tokens:
                groups.append(group)
                group = []
            group.append(index)
        groups.append(group)
    chance.shuffle(groups)
    for group in groups:
        yield stacked([examples[index] for index in group])
