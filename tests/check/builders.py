"""Small fragments and models for the tests of the check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from qdqtool.check.probe import Fragment, Port, Probe
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound, Exactness
from qdqtool.kernels.sources import ArraySource
from qdqtool.model import tensors

node = helper.make_node

FIVE_SCALES = np.array([0.1, 0.25, 0.3, 1, 7], np.float32)
FIVE_ZERO_POINTS = np.array([0, 1, -3, 7, 127], np.int8)


def fragment(nodes: Sequence[NodeProto], opset: int, inputs: Sequence[Port], output: Port, **constants: Any) -> Fragment:
    sources = {name: ArraySource(np.asarray(value)) for name, value in constants.items()}
    return Fragment(tuple(nodes), {"": opset, "com.microsoft": 1}, tuple(inputs), (output,), sources)


def single(op: str, opset: int, source: ElementType, target: ElementType, constants: Sequence[Any], **attributes: Any) -> Fragment:
    """One node on a run-time input of shape [3, 5, 7]."""
    names = [f"c{i}" for i in range(len(constants))]
    made = node(op, ["x", *names], ["y"], **attributes)
    return fragment([made], opset, [Port("x", source, (3, 5, 7))], Port("y", target), **dict(zip(names, constants, strict=True)))


def probe(before: Fragment, after: Fragment, exactness: Exactness = Exactness.BIT_EQUAL, bound: Bound | None = None, **names: Any) -> Probe:
    return Probe("main / step", exactness, bound, before, after, **names)


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[tuple[str, int, Sequence[int | str | None] | None]],
    outputs: Sequence[tuple[str, int]],
    *,
    opset: int = 21,
    functions: Sequence[Any] = (),
    **constants: Any,
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs],
        [tensors.make(name, np.asarray(value)) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=list(functions))


def saved(proto: ModelProto, path: Path) -> Path:
    path.write_bytes(proto.SerializeToString())
    return path


FLOAT, FLOAT16, INT64, INT8 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.INT8
