"""The student: convolutions over units that answer as the transformer does, in a fraction of its time.

A unit's vector is the sum of its features' vectors. Each layer sees the neighbours at another distance: in all `REACH`
units on either side. Of them it reads a third of the channels, of the unit itself all. Activations are quantized with
scales that are fixed while training ends, so that the same arithmetic gives the same bytes on every run and no window's
result depends on another's.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from gateway.detection.ner.unit_features import FEATURES, ROWS
from numpy.typing import NDArray
from onnx import TensorProto, helper
from torch import Tensor, nn
from torch.nn import functional

from training.export import MICROSOFT, Graph, array
from training.features import LABELS

VECTOR = 64
WIDTH = 96
NEAR = 32
DILATIONS = (1, 2, 4, 8, 2, 1)
REACH = sum(DILATIONS)
_SIGNED_ZERO = 128
# With seven bits, sums of two products fit into 16 bits on processors without VNNI.
_MOST = 63
_PERCENTILE = 0.9999


def rounded(x: Tensor, step: Tensor, least: int, most: int) -> Tensor:
    """`x` in whole steps from `least` to `most`; the gradient passes as if it were not rounded."""
    whole = (x / step).round().clamp(least, most) * step
    return x + (whole - x).detach()


class Layer(nn.Module):
    """Reads all channels of each unit, and the first `near` of its neighbours `far` units away on either side."""

    def __init__(self, read: int, width: int, far: int, near: int) -> None:
        super().__init__()
        self.far, self.near = far, min(near, read)
        self.mix = nn.Linear(read + 2 * self.near, width)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        """`x` `[batch, length, read]`; with a step, weights are rounded as in the graph."""
        if self.far:
            length, far = x.shape[1], self.far
            padded = functional.pad(x[:, :, : self.near], (0, 0, far, far))
            x = torch.cat([padded[:, :length], x, padded[:, 2 * far :]], dim=2)
        weight = self.mix.weight
        if step:
            largest = weight.detach().abs().amax(dim=1, keepdim=True).clamp_min(1e-8)
            weight = rounded(weight, largest / _MOST, -_MOST, _MOST)
        return functional.linear(x, weight, self.mix.bias)


class Student(nn.Module):
    """`rows` `[batch, length, features]` and a mask `[batch, length]` to logits `[batch, length, labels]`.

    `steps` are the steps of the vectors and of each layer's input; 0 while nothing is rounded.
    """

    steps: Tensor

    def __init__(
        self, vector: int = VECTOR, width: int = WIDTH, near: int = NEAR, dilations: tuple[int, ...] = DILATIONS
    ) -> None:
        super().__init__()
        self.vectors = nn.Parameter(0.1 * torch.randn(ROWS, vector))
        layers = [Layer(width if number else vector, width, far, near) for number, far in enumerate(dilations)]
        self.layers = nn.ModuleList([*layers, Layer(width, len(LABELS), 0, 0)])
        self.register_buffer("steps", torch.zeros(1 + len(self.layers)))

    def summed(self, rows: Tensor, mask: Tensor, kept: Tensor | None = None) -> Tensor:
        """The sums of the features' vectors; `kept` `[batch, length, features]` leaves some out."""
        there = mask > 0
        vectors = rounded(self.vectors, self.steps[0], -127, 127) if self.steps[0] else self.vectors
        weights = None if kept is None else kept[there].to(vectors.dtype)
        sums = functional.embedding_bag(rows[there], vectors, mode="sum", per_sample_weights=weights)
        result = sums.new_zeros((*mask.shape, sums.shape[1]))
        result[there] = sums
        return result

    def forward(self, rows: Tensor, mask: Tensor, kept: Tensor | None = None) -> Tensor:
        x = self.summed(rows, mask, kept)
        for number in range(len(self.layers)):
            x = self.layer(number, x, mask)
        return x

    def layer(self, number: int, x: Tensor, mask: Tensor) -> Tensor:
        """The layer's output; all but the first and the last add to what they read.

        All but the first read no negative values: rounding to unsigned numbers drops them.
        """
        step = self.steps[1 + number]
        seen = functional.relu(x) if number else x
        if step:
            seen = rounded(seen, step, 0 if number else -_SIGNED_ZERO, 255 if number else 127)
        read: Tensor = self.layers[number](seen, step)
        is_inner = 0 < number < len(self.layers) - 1
        return (x + read if is_inner else read) * mask[:, :, None]

    @torch.no_grad()
    def set_steps(self, rows: Tensor, mask: Tensor) -> None:
        """Fixes the steps by the values that occur in a text, but for the largest few."""
        self.steps.zero_()
        steps = [_largest(self.vectors[rows[mask > 0].unique()]) / 127]
        x = self.summed(rows, mask)
        for number in range(len(self.layers)):
            steps.append(_largest(functional.relu(x)) / 255 if number else _largest(x) / 127)
            x = self.layer(number, x, mask)
        self.steps.copy_(torch.stack(steps))


def _largest(values: Tensor) -> Tensor:
    magnitudes = values.abs().flatten()
    magnitudes = magnitudes[magnitudes > 0]
    return magnitudes.kthvalue(max(1, int(_PERCENTILE * len(magnitudes)))).values


def load(file: Path) -> Student:
    """The student whose weights are in a file."""
    student = Student()
    student.load_state_dict(torch.load(file, weights_only=True, map_location="cpu"))
    return student.eval()


def build(student: Student) -> onnx.ModelProto:
    """The graph: `rows` int32 `[length, features]` to `chances` float32 `[length, labels]`."""
    graph = Graph()
    steps = array(student.steps)
    size = student.vectors.shape[1]
    packed = np.clip(np.rint(array(student.vectors) / steps[0]), -127, 127) + _SIGNED_ZERO
    vectors = graph.add("Gather", [graph.weight("vectors", packed.astype(np.uint8)), "rows"], "vectors.rows")
    x = graph.add("Reshape", [vectors, graph.weight("flat", np.array([-1, FEATURES * size], np.int64))], "vectors.flat")
    # Adds up the vectors of a unit; ReduceSum takes three times as long.
    ones = np.tile(np.eye(size, dtype=np.int8), (FEATURES, 1))
    x = _product(graph, "summed", x, (steps[0], _SIGNED_ZERO), (ones, np.ones(size, np.float32)))
    last = len(student.layers) - 1
    for number, layer in enumerate(student.layers):
        assert isinstance(layer, Layer)
        read = _layer(graph, layer, float(steps[1 + number]), x, number)
        x = graph.add("Add", [x, read], f"layer{number}.sum") if 0 < number < last else read
    graph.add("Softmax", [x], "chances", axis=1)
    inputs = [helper.make_tensor_value_info("rows", TensorProto.INT32, ["length", FEATURES])]
    outputs = [helper.make_tensor_value_info("chances", TensorProto.FLOAT, ["length", len(LABELS)])]
    return helper.make_model(
        helper.make_graph(graph.nodes, "student", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=9,
    )


def _layer(graph: Graph, layer: Layer, step: float, x: str, number: int) -> str:
    name = f"layer{number}"
    zero = 0 if number else _SIGNED_ZERO
    scales = [graph.weight(f"{name}.step", np.array(step, np.float32)), graph.weight(f"{name}.zero", _byte(zero))]
    packed = graph.add("QuantizeLinear", [x, *scales], f"{name}.packed")
    if layer.far:
        packed = _around(graph, name, packed, layer, zero)
    weight = array(layer.mix.weight.T)
    scale = np.maximum(np.abs(weight).max(axis=0), 1e-8) / _MOST
    weight = np.clip(np.rint(weight / scale), -_MOST, _MOST).astype(np.int8)
    return _product(graph, f"{name}.mixed", packed, (step, zero), (weight, scale), array(layer.mix.bias))


def _around(graph: Graph, name: str, packed: str, layer: Layer, zero: int) -> str:
    """Puts each unit between its neighbours, so that one multiplication does the convolution.

    Concat and Slice take half of Pad's time.
    """
    far, near = layer.far, layer.near

    def cut(x: str, first: int, last: int, axis: int, part: str) -> str:
        places = [
            graph.weight(f"{name}.{part}.{at}", np.array([value], np.int64))
            for at, value in (("first", first), ("last", last), ("axis", axis))
        ]
        return graph.add("Slice", [x, *places], f"{name}.{part}")

    edge = graph.weight(f"{name}.edge", np.full((far, near), zero, np.uint8))
    shared = cut(packed, 0, near, 1, "near")
    padded = graph.add("Concat", [edge, shared, edge], f"{name}.padded", axis=0)
    before = cut(padded, 0, -2 * far, 0, "before")
    behind = cut(padded, 2 * far, np.iinfo(np.int64).max, 0, "behind")
    return graph.add("Concat", [before, packed, behind], f"{name}.around", axis=1)


def _product(
    graph: Graph,
    name: str,
    x: str,
    rounding: tuple[float, int],
    weights: tuple[NDArray[np.int8], NDArray[np.float32]],
    bias: NDArray[np.float32] | None = None,
) -> str:
    """Multiplies `x`, whose rounding is a step and a zero, by weights with one step a column."""
    step, zero = rounding
    weight, scale = weights
    values = {
        "w": weight,
        "scale": np.array(step, np.float32),
        "w.scale": scale.astype(np.float32),
        "x.zero": _byte(zero),
        "w.zero": np.zeros(len(scale), np.int8),
    } | ({} if bias is None else {"b": bias})
    inputs = [graph.weight(f"{name}.{part}", value) for part, value in values.items()]
    return graph.add("MatMulIntegerToFloat", [x, *inputs], name, MICROSOFT)


def _byte(value: int) -> NDArray[np.uint8]:
    return np.array(value, np.uint8)
