"""The student: convolutions over units that answer as the transformer does, in a fraction of its time.

A unit's vector is the sum of its features' vectors. Each layer sees the neighbours at another distance: in all `REACH`
units on either side. Activations are quantized with scales that are fixed while training ends, so that the same
arithmetic gives the same bytes on every run and no window's result depends on another's.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from gateway.detection.ner.units import FEATURES, ROWS
from onnx import TensorProto, helper
from torch import Tensor, nn
from torch.nn import functional

from training.export import MICROSOFT, Graph, array
from training.features import LABELS

VECTOR = 64
WIDTH = 96
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
    """Reads each unit and its neighbours `far` units away on either side."""

    def __init__(self, read: int, width: int, far: int) -> None:
        super().__init__()
        self.far = far
        self.mix = nn.Linear(3 * read, width)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        """`x` `[batch, length, read]`; with a step, weights are rounded as in the graph."""
        length, far = x.shape[1], self.far
        padded = functional.pad(x, (0, 0, far, far))
        around = torch.cat([padded[:, shift : shift + length] for shift in (0, far, 2 * far)], dim=2)
        weight = self.mix.weight
        if step:
            largest = weight.detach().abs().amax(dim=1, keepdim=True).clamp_min(1e-8)
            weight = rounded(weight, largest / _MOST, -_MOST, _MOST)
        return functional.linear(around, weight, self.mix.bias)


class Student(nn.Module):
    """`rows` `[batch, length, features]` and a mask `[batch, length]` to logits `[batch, length, labels]`.

    `steps` are the steps of the vectors and of each layer's input; 0 while nothing is rounded.
    """

    steps: Tensor

    def __init__(self, vector: int = VECTOR, width: int = WIDTH, dilations: tuple[int, ...] = DILATIONS) -> None:
        super().__init__()
        self.vectors = nn.Parameter(0.1 * torch.randn(ROWS, vector))
        self.layers = nn.ModuleList(
            Layer(width if number else vector, width, far) for number, far in enumerate(dilations)
        )
        self.head = nn.Linear(width, len(LABELS))
        self.register_buffer("steps", torch.zeros(1 + len(dilations)))

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
        logits: Tensor = self.head(x)
        return logits

    def layer(self, number: int, x: Tensor, mask: Tensor) -> Tensor:
        """The layer's output; all but the first add to what they read."""
        step = self.steps[1 + number]
        seen = rounded(x, step, 0 if number else -_SIGNED_ZERO, 255 if number else 127) if step else x
        read: Tensor = self.layers[number](seen, step)
        return functional.relu(x + read if number else read) * mask[:, :, None]

    @torch.no_grad()
    def set_steps(self, rows: Tensor, mask: Tensor) -> None:
        """Fixes the steps by the values that occur in a text, but for the largest few."""
        self.steps.zero_()
        steps = [_largest(self.vectors[rows[mask > 0].unique()]) / 127]
        x = self.summed(rows, mask)
        for number in range(len(self.layers)):
            steps.append(_largest(x) / (255 if number else 127))
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
    """The graph: `rows` int32 `[length, features]` to `logits` float32 `[length, labels]`."""
    graph = Graph()
    steps = array(student.steps)
    packed = np.clip(np.rint(array(student.vectors) / steps[0]), -127, 127).astype(np.int8)
    vectors = graph.add("Gather", [graph.weight("vectors", packed), "rows"], "vectors.rows")
    vectors = graph.add("Cast", [vectors], "vectors.float", to=TensorProto.FLOAT)
    axis = graph.weight("axis", np.array([1], np.int64))
    x = graph.add("ReduceSum", [vectors, axis], "vectors.sum", keepdims=0)
    x = graph.add("Mul", [x, graph.weight("vectors.step", steps[0])], "summed")
    for number, layer in enumerate(student.layers):
        assert isinstance(layer, Layer)
        x = _layer(graph, layer, float(steps[1 + number]), x, number)
    x = graph.add("MatMul", [x, graph.weight("head.w", array(student.head.weight.T))], "head")
    graph.add("Add", [x, graph.weight("head.b", array(student.head.bias))], "logits")
    inputs = [helper.make_tensor_value_info("rows", TensorProto.INT32, ["length", FEATURES])]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["length", len(LABELS)])]
    return helper.make_model(
        helper.make_graph(graph.nodes, "student", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=9,
    )


def _layer(graph: Graph, layer: Layer, step: float, x: str, number: int) -> str:
    name = f"layer{number}"
    scale = graph.weight(f"{name}.scale", np.array(step, np.float32))
    zero = graph.weight(f"{name}.zero", np.array(0 if number else _SIGNED_ZERO, np.uint8))
    packed = graph.add("QuantizeLinear", [x, scale, zero], f"{name}.packed")
    # Three copies, shifted, so that one multiplication does the convolution. Concat and Slice take half of Pad's time.
    far, read = layer.far, layer.mix.in_features // 3
    edge = graph.weight(f"{name}.edge", np.full((far, read), 0 if number else _SIGNED_ZERO, np.uint8))
    padded = graph.add("Concat", [edge, packed, edge], f"{name}.padded", axis=0)
    first, last, wide, after = (
        graph.weight(f"{name}.{part}", np.array([at], np.int64))
        for part, at in (("first", 0), ("last", np.iinfo(np.int64).max), ("wide", -2 * far), ("after", 2 * far))
    )
    before = graph.add("Slice", [padded, first, wide, first], f"{name}.before")
    behind = graph.add("Slice", [padded, after, last, first], f"{name}.behind")
    around = graph.add("Concat", [before, packed, behind], f"{name}.around", axis=1)
    weight = array(layer.mix.weight.T)
    scale_w = np.maximum(np.abs(weight).max(axis=0), 1e-8) / _MOST
    packed_w = np.clip(np.rint(weight / scale_w), -_MOST, _MOST).astype(np.int8)
    value = graph.add(
        "MatMulIntegerToFloat",
        [
            around,
            graph.weight(f"{name}.w", packed_w),
            scale,
            graph.weight(f"{name}.w.scale", scale_w.astype(np.float32)),
            zero,
            graph.weight(f"{name}.w.zero", np.zeros(len(scale_w), np.int8)),
            graph.weight(f"{name}.b", array(layer.mix.bias)),
        ],
        f"{name}.mixed",
        MICROSOFT,
    )
    if number:
        value = graph.add("Add", [x, value], f"{name}.sum")
    return graph.add("Relu", [value], f"{name}.relu")
