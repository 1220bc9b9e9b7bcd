"""A step as a model of one node, or of three where its codes need a carrier: they are transposed and dequantized again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from qdqtool import dtypes, spelling
from qdqtool.capabilities import row_at
from qdqtool.check.fragments import value_info
from qdqtool.expressions import Expr, Runtime, Stored
from qdqtool.model import tensors
from qdqtool.spelling import Operand
from tests.lowerings.given import Given


def model_of(given: Given, opset: int, *, dialect: str = "ai.onnx") -> ModelProto:
    """The step at a source opset."""
    given = _with_zero(given)
    step = given.step
    node = _node(given, opset, dialect)
    leaves = [leaf for leaf in (step.x, step.scale, step.zero_point) if leaf is not None]
    inputs = [_input(leaf) for leaf in leaves if isinstance(leaf, Runtime)]
    held = [_stored(given, leaf) for leaf in leaves if isinstance(leaf, Stored)]
    nodes = [node]
    if step.dtype is not step.meaning.storage and step.meaning.kind == "quantize":
        node.output[0] = "codes"
        back = helper.make_node("DequantizeLinear", ["moved", *node.input[1:]], ["y"], name="back", domain=node.domain)
        back.attribute.extend(a for a in node.attribute if a.name in ("axis", "block_size"))
        nodes += [helper.make_node("Transpose", ["codes"], ["moved"], name="mover"), back]
    result = step.meaning.expressed if len(nodes) > 1 else step.dtype
    assert result is not None
    graph = helper.make_graph(nodes, "g", inputs, [value_info("y", result, None)], held)
    imports = {"": opset, **({node.domain: 1} if node.domain else {})}
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid(d, v) for d, v in imports.items()], ir_version=10 if opset < 23 else 13
    )


def _with_zero(given: Given) -> Given:
    """With a zero point that tells the type of the codes, where only ``output_dtype`` could."""
    step, storage = given.step, given.step.meaning.storage
    if step.zero_point is not None or step.meaning.kind == "dequantize" or storage is None or not (storage.integer or storage.specials):
        return given
    zero = np.zeros(given.scale.shape, storage.numpy)
    return replace(given, step=replace(step, zero_point=Stored((), "z", storage, zero.shape)), zero=zero)


def _node(given: Given, opset: int, dialect: str) -> NodeProto:
    step = given.step
    row = row_at(dialect, step.meaning.kind, opset if dialect == "ai.onnx" else 1)
    assert row is not None
    zero = None if step.zero_point is None else Operand(step.zero_point.dtype, step.zero_point.shape)
    x = Operand(dtypes.of_numpy(given.codes.dtype), step.x.shape)
    written = spelling.write(step.meaning, x, Operand(step.scale.dtype, step.scale.shape), zero, row)
    assert isinstance(written, dict), written
    names = ["x", "s", *(["z"] if zero else [])]
    return helper.make_node(row.op, names, ["y"], name="step", domain=row.domain, **written)


def _input(leaf: Runtime) -> ValueInfoProto:
    assert leaf.dtype is not None
    return value_info(leaf.name, leaf.dtype, leaf.shape)


def _stored(given: Given, leaf: Expr) -> TensorProto:
    assert isinstance(leaf, Stored)
    return tensors.make(leaf.name, given.arrays[leaf.name])
