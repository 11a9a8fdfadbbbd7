"""The student: convolutions over word pieces that answer as the transformer does, in a tenth of its time.

Each token's vector passes residual blocks, each of which sees its neighbours at another distance: in all
`REACH` tokens on either side. The same arithmetic gives the same bytes on every run: activations are quantized with
scales fixed at export, and no window's result depends on another's.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper
from torch import Tensor, nn
from torch.nn import functional

from training.export import MICROSOFT, Graph, array
from training.features import LABELS, TOKEN_TYPES

WIDTH = 160
DILATIONS = (1, 2, 4, 8, 2, 1)
REACH = sum(DILATIONS)
VOCABULARY = 30522
_ZERO = 128
# With seven bits, sums of two products fit into 16 bits on processors without VNNI.
_MOST = 63


class Block(nn.Module):
    """Adds to each token what a convolution of width three reads around it."""

    def __init__(self, dilation: int) -> None:
        super().__init__()
        self.dilation = dilation
        self.norm = nn.LayerNorm(WIDTH)
        self.mix = nn.Linear(3 * WIDTH, WIDTH)

    def read(self, x: Tensor, mask: Tensor) -> Tensor:
        """What the convolution reads: `[batch, length, width]`, zero beyond the text."""
        normed: Tensor = self.norm(x) * mask
        return normed

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        length, step = x.shape[1], self.dilation
        padded = functional.pad(self.read(x, mask), (0, 0, step, step))
        around = torch.cat([padded[:, shift : shift + length] for shift in (0, step, 2 * step)], dim=2)
        return x + functional.relu(self.mix(around))


class Student(nn.Module):
    """`input_ids`, `token_type_ids` and a mask `[batch, length]` to logits `[batch, length, labels]`."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.types = nn.Embedding(TOKEN_TYPES, WIDTH)
        self.blocks = nn.ModuleList(Block(dilation) for dilation in DILATIONS)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(LABELS))

    def embedded(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """The tokens' own vectors."""
        x: Tensor = self.words(input_ids) + self.types(token_type_ids)
        return x

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, mask: Tensor) -> Tensor:
        mask = mask[:, :, None]
        x = self.embedded(input_ids, token_type_ids)
        for block in self.blocks:
            x = block(x, mask)
        logits: Tensor = self.head(self.norm(x))
        return logits


def from_table(table: NDArray[np.float32]) -> Student:
    """A student that starts from the transformer's word vectors, projected onto their main components."""
    student = Student()
    centred = table - table.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    projected = centred @ vectors[:, ::-1][:, :WIDTH]
    with torch.no_grad():
        student.words.weight.copy_(torch.from_numpy(projected / projected.std()))
    return student


def load(file: Path) -> Student:
    """The student whose weights are in a file."""
    student = Student()
    student.load_state_dict(torch.load(file, weights_only=True))
    return student.eval()


def scales(student: Student, ids: Tensor, types: Tensor, mask: Tensor) -> list[float]:
    """One step per block: its largest activation over the given text, in 127 parts."""
    steps = []
    with torch.inference_mode():
        x = student.embedded(ids, types)
        for block in student.blocks:
            assert isinstance(block, Block)
            steps.append(float(block.read(x, mask[:, :, None]).abs().max()) / 127)
            x = block(x, mask[:, :, None])
    return steps


def build(student: Student, steps: list[float]) -> onnx.ModelProto:
    """The graph: `input_ids` and `token_type_ids` int64 `[length]` to `logits` float32 `[length, labels]`."""
    graph = Graph()
    types = graph.add("Gather", [graph.weight("types", array(student.types.weight)), "token_type_ids"], "types.value")
    x = graph.add("Add", [graph.table(array(student.words.weight)), types], "embedded")
    for number, (block, step) in enumerate(zip(student.blocks, steps, strict=True)):
        assert isinstance(block, Block)
        x = _block(graph, block, step, x, f"block{number}")
    x = graph.norm(x, student.norm, "normed", epsilon=student.norm.eps)
    x = graph.add("MatMul", [x, graph.weight("head.w", array(student.head.weight.T))], "head")
    graph.add("Add", [x, graph.weight("head.b", array(student.head.bias))], "logits")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["length"]) for name in ("input_ids", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["length", len(LABELS)])]
    return helper.make_model(
        helper.make_graph(graph.nodes, "student", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=9,
    )


def _block(graph: Graph, block: Block, step: float, x: str, name: str) -> str:
    normed = graph.norm(x, block.norm, f"{name}.norm", epsilon=block.norm.eps)
    scale = graph.weight(f"{name}.scale", np.array(step, np.float32))
    zero = graph.weight(f"{name}.zero", np.array(_ZERO, np.uint8))
    packed = graph.add("QuantizeLinear", [normed, scale, zero], f"{name}.packed")
    # Three copies, shifted, so that one multiplication does the convolution.
    step_by = block.dilation
    shifted = [packed]
    for side, pads in (("before", [step_by, 0, -step_by, 0]), ("after", [-step_by, 0, step_by, 0])):
        moved = graph.weight(f"{name}.{side}", np.array(pads, np.int64))
        shifted.append(graph.add("Pad", [packed, moved, zero], f"{name}.{side}.value"))
    around = graph.add("Concat", [shifted[1], shifted[0], shifted[2]], f"{name}.around", axis=1)
    weight = array(block.mix.weight.T)
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
            graph.weight(f"{name}.b", array(block.mix.bias)),
        ],
        f"{name}.mixed",
        MICROSOFT,
    )
    return graph.add("Add", [x, graph.add("Relu", [value], f"{name}.relu")], f"{name}.sum")
