"""A float32 ONNX encoder comes in; the same graph with 8-bit weights and integer matrix products goes out.

Two properties decide how it is done, and onnxruntime's own dynamic quantisation has neither:

* A text's vector must not depend on its neighbours in the batch, or a cached vector and a fresh one differ
  and the order of registration shows in the ranking. So activations are scaled per token (row), not per
  tensor.
* Processors without VNNI instructions add pairs of u8 x s8 products in 16 bits and saturate. With activations
  up to 255, weights within +-64 keep the worst pair, 255 * 64 * 2 = 32,640, below 32,767: every processor
  gives the same integer products.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WEIGHT_LIMIT = 64
"""Largest absolute quantised weight; see the module docstring."""

GELU_FLOOR = np.float32(0.17)
"""GELU never goes below -0.16997, so its output shifted by this is non-negative and may use all 255
levels."""


def quantize(model: onnx.ModelProto, *, embedding_rows: int, gelu_width: int) -> None:
    """Quantise a BERT-like encoder in place.

    Args:
        model: Graph whose weights are initialisers; linear layers are ``MatMul`` followed by ``Add``.
        embedding_rows: Tables with at least this many rows are stored as int8 with one scale per row.
        gelu_width: Linear layers with this many inputs read the output of a GELU.
    """
    graph = _Rewriter(model.graph)
    for node in list(model.graph.node):
        weight = graph.weight_of(node)
        if (
            node.op_type == "Gather"
            and weight is not None
            and weight.ndim == 2
            and len(weight) >= embedding_rows
        ):
            graph.embedding(node, weight)
        elif node.op_type == "MatMul" and weight is not None:
            graph.linear(node, weight, after_gelu=weight.shape[0] == gelu_width)
        else:
            graph.nodes.append(node)
    graph.finish()


class _Rewriter:
    """Collects the new nodes and initialisers of one graph."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.graph = graph
        self.nodes: list[onnx.NodeProto] = []
        self.tensors = {tensor.name: tensor for tensor in graph.initializer}
        self.quantized: set[str] = set()

    def weight_of(self, node: onnx.NodeProto) -> np.ndarray | None:
        """The node's first input that is a stored tensor, for the two kinds of node that hold weights."""
        where = {"Gather": 0, "MatMul": 1}.get(node.op_type)
        if where is None or node.input[where] not in self.tensors:
            return None
        return numpy_helper.to_array(self.tensors[node.input[where]])

    def embedding(self, node: onnx.NodeProto, table: np.ndarray) -> None:
        """Store a table as int8 with one scale per row; rows are widened after the look-up."""
        name, ids, out = node.input[0], node.input[1], node.output[0]
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True) / 127, 1e-12).astype(np.float32)
        self._drop(name)
        self._store(f"{name}_int8", np.round(table / scale).astype(np.int8))
        self._store(f"{name}_scale", scale)
        self._add("Gather", [f"{name}_int8", ids], f"{out}_int8")
        self._add("Cast", [f"{out}_int8"], f"{out}_wide", to=TensorProto.FLOAT)
        self._add("Gather", [f"{name}_scale", ids], f"{out}_scale")
        self._add("Mul", [f"{out}_wide", f"{out}_scale"], out)

    def linear(self, node: onnx.NodeProto, weight: np.ndarray, *, after_gelu: bool) -> None:
        """Replace a product by: quantise each token, multiply integers, scale by token and by column."""
        source, name, out = node.input[0], node.input[1], node.output[0]
        scale = np.maximum(np.abs(weight).max(axis=0) / WEIGHT_LIMIT, 1e-12).astype(np.float32)
        integers = np.round(weight / scale).astype(np.int8)
        self._drop(name)
        self._store(f"{name}_int8", integers)
        self._store(f"{name}_scale", scale)
        if after_gelu:
            # x = (x + floor) - floor: the second part is a constant vector, and the bias takes it.
            self._shift_bias(out, -GELU_FLOOR * (integers.astype(np.float32) * scale).sum(axis=0))
        if source not in self.quantized:
            self.quantized.add(source)
            self._quantize_rows(source, after_gelu=after_gelu)
        zero = (
            self._constant("zero_gelu", np.uint8(0)) if after_gelu else self._constant("zero", np.uint8(128))
        )
        self._add("MatMulInteger", [f"{source}_uint8", f"{name}_int8", zero], f"{out}_int32")
        self._add("Cast", [f"{out}_int32"], f"{out}_wide", to=TensorProto.FLOAT)
        self._add("Mul", [f"{out}_wide", f"{source}_scale"], f"{out}_rows")
        self._add("Mul", [f"{out}_rows", f"{name}_scale"], out)

    def _quantize_rows(self, source: str, *, after_gelu: bool) -> None:
        """Write uint8 rows and their scales: around 128, or from 0 where values are never below -floor."""
        half = self._constant("half", np.float32(0.5))  # a cast cuts off: adding one half rounds
        if after_gelu:
            floor = self._constant("gelu_floor", GELU_FLOOR)
            levels, offset = np.float32(255), half
            self._add("ReduceMax", [source], f"{source}_peak0", axes=[-1], keepdims=1)
            self._add("Add", [f"{source}_peak0", floor], f"{source}_peak")
            self._add("Add", [source, floor], f"{source}_centred")
            centred = f"{source}_centred"
        else:
            levels, offset = np.float32(127), self._constant("middle", np.float32(128.5))
            self._add("Abs", [source], f"{source}_abs")
            self._add("ReduceMax", [f"{source}_abs"], f"{source}_peak", axes=[-1], keepdims=1)
            centred = source
        self._add("Max", [f"{source}_peak", self._constant("tiny", np.float32(1e-9))], f"{source}_range")
        step = self._constant(f"levels_{levels:.0f}", levels)
        self._add("Div", [step, f"{source}_range"], f"{source}_inverse")
        self._add("Div", [f"{source}_range", step], f"{source}_scale")
        self._add("Mul", [centred, f"{source}_inverse"], f"{source}_steps")
        self._add("Add", [f"{source}_steps", offset], f"{source}_rounded")
        self._add("Cast", [f"{source}_rounded"], f"{source}_uint8", to=TensorProto.UINT8)

    def _shift_bias(self, product: str, shift: np.ndarray) -> None:
        """Add ``shift`` to the bias of the ``Add`` that follows a product."""
        add = next(node for node in self.graph.node if node.op_type == "Add" and product in node.input)
        name = next(entry for entry in add.input if entry != product)
        bias = numpy_helper.to_array(self.tensors[name])
        self.tensors[name].CopyFrom(numpy_helper.from_array((bias + shift).astype(np.float32), name))

    def _constant(self, name: str, value: np.generic) -> str:
        if name not in self.tensors:
            self._store(name, np.asarray(value))
        return name

    def _store(self, name: str, value: np.ndarray) -> None:
        self.tensors[name] = numpy_helper.from_array(value, name)

    def _drop(self, name: str) -> None:
        del self.tensors[name]

    def _add(self, operator: str, inputs: list[str], output: str, **attributes: object) -> None:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))

    def finish(self) -> None:
        """Put the new nodes and tensors in the place of the old ones."""
        tensors = list(self.tensors.values())
        del self.graph.node[:], self.graph.initializer[:]
        self.graph.node.extend(self.nodes)
        self.graph.initializer.extend(tensors)
