"""Writes the trained tagger as an int8 ONNX graph with the tokenizer and the label list beside it.

The graph is built node by node from what onnxruntime is quick at on a CPU. Word embeddings are int8 with one scale a
row; matrices are int8 with one scale a column; activations are quantised at run time.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from training.features import LABELS
from training.model import Layer, Tagger, base_folder

MICROSOFT = "com.microsoft"


class Graph:
    """Collects nodes and weights under running names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, values: NDArray[np.generic]) -> str:
        """Adds a constant."""
        self.weights.append(numpy_helper.from_array(np.array(values, order="C"), name))
        return name

    def add(self, kind: str, inputs: list[str], name: str, domain: str = "", **attributes: Any) -> str:
        """Adds a node, whose result has the same name."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def table(self, table: NDArray[np.float32]) -> str:
        """Looks `input_ids` up in a table that is kept as int8 with one scale a row."""
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-8) / 127.0
        packed = np.clip(np.rint(table / scale), -127, 127).astype(np.int8)
        rows = self.add("Gather", [self.weight("words", packed), "input_ids"], "words.rows")
        rows = self.add("Cast", [rows], "words.float", to=TensorProto.FLOAT)
        scales = self.add("Gather", [self.weight("words.scale", scale.astype(np.float32)), "input_ids"], "words.scales")
        return self.add("Mul", [rows, scales], "words.value")

    def norm(self, x: str, norm: nn.LayerNorm, name: str, *, epsilon: float) -> str:
        """Adds a layer normalization."""
        weights = [self.weight(f"{name}.w", array(norm.weight)), self.weight(f"{name}.b", array(norm.bias))]
        return self.add("LayerNormalization", [x, *weights], name, epsilon=epsilon, axis=-1)


def array(tensor: object) -> NDArray[np.float32]:
    """A tensor's values."""
    return tensor.detach().numpy().astype(np.float32)  # type: ignore[attr-defined,no-any-return]


def _residual(graph: Graph, value: str, x: str, norm: nn.LayerNorm, name: str) -> str:
    # Sum, not Add: onnxruntime would fuse Add and LayerNormalization into an operator many times slower on a CPU.
    value = graph.add("Sum", [value, x], f"{name}.sum")
    return graph.norm(value, norm, name, epsilon=norm.eps)


def _linear(graph: Graph, linear: nn.Linear, x: str, name: str) -> str:
    # onnxruntime adds a bias while it turns the product into floats, if it comes next.
    value = graph.add("MatMul", [x, graph.weight(f"{name}.w", array(linear.weight.T))], name)
    return graph.add("Add", [value, graph.weight(f"{name}.b", array(linear.bias))], f"{name}.biased")


def _layer(graph: Graph, layer: Layer, x: str, name: str) -> str:
    qkv = [f"{name}.q", f"{name}.k", f"{name}.v"]
    packed = _linear(graph, layer.qkv, x, f"{name}.qkv")
    graph.nodes.append(helper.make_node("Split", [packed], qkv, axis=2, num_outputs=3))
    # No mask: a window is read alone and never padded. With one, attention takes a quarter more.
    seen = graph.add("MultiHeadAttention", qkv, f"{name}.seen", MICROSOFT, num_heads=layer.heads)
    x = _residual(graph, _linear(graph, layer.out, seen, f"{name}.out"), x, layer.norm1, f"{name}.norm1")
    up = graph.add("Gelu", [_linear(graph, layer.up, x, f"{name}.up")], f"{name}.gelu", MICROSOFT)
    return _residual(graph, _linear(graph, layer.down, up, f"{name}.down"), x, layer.norm2, f"{name}.norm2")


def build(model: Tagger) -> onnx.ModelProto:
    """The float graph, with the word table already int8."""
    graph = Graph()
    length = graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    places = graph.weight("positions", array(model.positions.weight))
    start, axis = graph.weight("zero", np.array([0], np.int64)), graph.weight("axis", np.array([0], np.int64))
    places = graph.add("Slice", [places, start, length, axis], "positions.value")
    types = graph.add("Gather", [graph.weight("types", array(model.types.weight)), "token_type_ids"], "types.value")
    x = graph.add("Add", [graph.table(array(model.words.weight)), types], "embedded.types")
    x = graph.add("Add", [x, places], "embedded")
    x = graph.norm(x, model.norm, "normed", epsilon=model.norm.eps)
    for index, layer in enumerate(model.layers):
        assert isinstance(layer, Layer)
        x = _layer(graph, layer, x, f"layer{index}")
    x = graph.add("MatMul", [x, graph.weight("head.w", array(model.head.weight.T))], "head")
    graph.add("Add", [x, graph.weight("head.b", array(model.head.bias))], "logits")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "length", len(LABELS)])]
    return helper.make_model(
        helper.make_graph(graph.nodes, "names", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=9,
    )


def export(model: Tagger, folder: Path) -> None:
    """`model.onnx`, `tokenizer.json` and `labels.json` in ``folder``; the head stays in float."""
    folder.mkdir(parents=True, exist_ok=True)
    loose = folder / "float.onnx"
    onnx.save(build(model.eval()), loose)
    quantize_dynamic(
        loose,
        folder / "model.onnx",
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=["head"],
        extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT},
    )
    loose.unlink()
    tokenizer = json.loads((base_folder() / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    (folder / "labels.json").write_text(json.dumps(LABELS) + "\n", encoding="utf-8")
