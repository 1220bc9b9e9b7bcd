"""One node at one opset, said at another, and both run in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import ModelProto, NodeProto, helper, shape_inference

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.model import tensors
from qdqtool.opsets.adapt import Adapted, adapt
from qdqtool.opsets.draft import epsilon
from qdqtool.opsets.edits import carry_out
from qdqtool.opsets.moves import judge

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Around:
    """A situation from arrays: `feeds` come at run time, `constants` do not."""

    feeds: Mapping[str, Array] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
    types: Mapping[str, ElementType] = field(default_factory=dict)
    shapes: bool = True

    def type_of(self, name: str) -> ElementType | None:
        array = self.constants.get(name, self.feeds.get(name))
        return self.types.get(name) if array is None else dtypes.of_numpy(array.dtype)

    def shape_of(self, name: str) -> Sequence[int | None] | None:
        if name in self.constants:
            return self.constants[name].shape
        return self.feeds[name].shape if self.shapes and name in self.feeds else None

    def value_of(self, name: str) -> Array | None:
        return self.constants.get(name)

    def integers(self, name: str) -> list[int] | None:
        array = self.constants.get(name)
        return None if array is None or array.dtype.kind not in "iu" else array.reshape(-1).tolist()


@dataclass(frozen=True)
class Case:
    """A node at an opset with its operands; `constant` operands are initializers, None ones are left out."""

    node: NodeProto
    opset: int
    around: Around

    def __str__(self) -> str:
        return f"{self.node.op_type}-{self.opset}"


def case(op: str, opset: int, *arrays: Any, outputs: int | Sequence[str] = 1, constant: Sequence[int] = (), **attributes: Any) -> Case:
    names = ["" if array is None else f"x{i}" for i, array in enumerate(arrays)]
    given = {name: np.asarray(array) for name, array in zip(names, arrays, strict=True) if array is not None}
    results = [f"y{i}" for i in range(outputs)] if isinstance(outputs, int) else list(outputs)
    node = helper.make_node(op, names, results, **attributes)
    constants = {f"x{i}": given.pop(f"x{i}") for i in constant}
    return Case(node, opset, Around(given, constants))


def model(nodes: Sequence[NodeProto], opset: int, around: Around, constants: Mapping[str, Array], outputs: Sequence[str]) -> ModelProto:
    inputs = [
        helper.make_tensor_value_info(n, dtypes.of_numpy(a.dtype).code, a.shape if around.shapes else None) for n, a in around.feeds.items()
    ]
    made = [tensors.make(name, array) for name, array in {**around.constants, **constants}.items()]
    graph = helper.make_graph(list(nodes), "g", inputs, [helper.make_empty_tensor_value_info(o) for o in outputs if o], made)
    bare = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    typed = shape_inference.infer_shapes(bare)
    known = {o.name for o in typed.graph.output if o.type.HasField("tensor_type")}
    return typed if len(known) == len(typed.graph.output) else bare


def run(proto: ModelProto, feeds: Mapping[str, Array]) -> list[Any]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.disable_prepacking", "1")
    session = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(feeds)))


def moved(case: Case, target: int) -> Adapted | list[str]:
    """The node at the target: as it is, with edited attributes, or said otherwise."""
    around = case.around
    known = {**around.types, **_result_types(case)}
    around = Around(around.feeds, around.constants, known, around.shapes)
    verdict = judge(case.node, case.opset, target, around.type_of, shape_of=around.shape_of, value_of=around.integers)
    if verdict.reasons:
        return adapt(case.node, case.opset, target, around)
    copy = NodeProto()
    copy.CopyFrom(case.node)
    carry_out(copy, verdict.edits)
    return Adapted(
        (copy,),
        {},
        Exactness.ROUNDING if verdict.rounded else Exactness.BIT_EQUAL,
        _rounded(verdict.rounded, known.get(case.node.output[0])),
        (),
    )


def _rounded(rounded: bool, dtype: ElementType | None) -> Bound:
    return Bound(of_maximum=4 * epsilon(dtype)) if rounded else NO_BOUND


def _result_types(case: Case) -> dict[str, ElementType]:
    typed = model([case.node], case.opset, case.around, {}, case.node.output).graph.output
    found = {v.name: dtypes.of_code(v.type.tensor_type.elem_type) for v in typed if v.type.HasField("tensor_type")}
    return {name: dtype for name, dtype in found.items() if dtype is not None}


def before(case: Case) -> list[Any]:
    return run(model([case.node], case.opset, case.around, {}, case.node.output), case.around.feeds)


def after(case: Case, target: int, found: Adapted) -> list[Any]:
    return run(model(found.nodes, target, case.around, found.constants, case.node.output), case.around.feeds)


def different(old: Sequence[Any], new: Sequence[Any], found: Adapted) -> str:
    """What differs beyond the promised class; empty when nothing does."""
    for index, (a, b) in enumerate(zip(old, new, strict=True)):
        if not isinstance(a, np.ndarray) or a.dtype == object:
            if str(a) != str(b):
                return f"result {index}: {b} instead of {a}"
        elif a.dtype != b.dtype or a.shape != b.shape:
            return f"result {index}: {b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
        elif not _equal(a, b, found):
            return f"result {index}: {b.reshape(-1)[:6]} instead of {a.reshape(-1)[:6]}"
    return ""


def _equal(a: Array, b: Array, found: Adapted) -> bool:
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind not in "fV" or found.exactness < Exactness.VALUE_EQUAL:
        return bool(a.dtype.kind in "f" and np.array_equal(np.signbit(a), np.signbit(b)) and np.array_equal(a, b, equal_nan=True))
    x, y = a.astype(np.float64), b.astype(np.float64)
    if found.exactness == Exactness.VALUE_EQUAL:
        return bool(np.array_equal(x, y, equal_nan=True))
    largest = np.max(np.abs(x[np.isfinite(x)]), initial=0)
    bound = found.bound.of_maximum * largest + found.bound.ulps * np.spacing(np.abs(a)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return bool(np.all((x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= bound)))


def verdict(case: Case, target: int) -> str:
    """Empty when the node computes the same at both opsets; else what is wrong."""
    old = before(case)
    found = moved(case, target)
    if isinstance(found, list):
        return f"refused: {'; '.join(found)}"
    return different(old, after(case, target, found), found)
