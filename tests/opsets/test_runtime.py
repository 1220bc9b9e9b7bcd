"""ONNX Runtime as the judge: a node that moves gives the same bits at both opsets, and one that may not move gives others or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime as ort
import onnxruntime.capi.onnxruntime_pybind11_state as ort_errors
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

from qdqtool import dtypes
from qdqtool.opsets.edits import carry_out
from qdqtool.opsets.moves import judge


@dataclass(frozen=True)
class Case:
    node: NodeProto
    feeds: dict[str, np.ndarray]
    source: int
    target: int
    initializers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.node.op_type} {self.source}>{self.target}"


def data(*shape: int, dtype: Any = np.float32, low: float = -3, high: float = 3) -> np.ndarray:
    return np.random.default_rng(list(shape)).uniform(low, high, shape).astype(dtype)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def case(
    op: str, source: int, target: int, *arrays: np.ndarray | None, outputs: int = 1, constant: tuple[int, ...] = (), **attributes: Any
) -> Case:
    names = ["" if array is None else f"x{i}" for i, array in enumerate(arrays)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], **attributes)
    return Case(node, {n: a for n, a in zip(names, arrays, strict=True) if a is not None}, source, target, tuple(f"x{i}" for i in constant))


def model(case: Case, node: NodeProto, opset: int) -> ModelProto:
    given = {name: array for name, array in case.feeds.items() if name not in case.initializers}
    inputs = [helper.make_tensor_value_info(n, dtypes.of_numpy(a.dtype).code, a.shape) for n, a in given.items()]
    constants = [numpy_helper.from_array(case.feeds[name], name) for name in case.initializers]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = helper.make_graph([node], "g", inputs, outputs, constants)
    return shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10))


def run(case: Case, node: NodeProto, opset: int) -> list[np.ndarray]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(model(case, node, opset).SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {name: array for name, array in case.feeds.items() if name not in case.initializers}))


def verdict(case: Case) -> Any:
    typed = model(case, case.node, case.source).graph
    tensors = {v.name: v.type.tensor_type for v in (*typed.input, *typed.output)}
    types = {name: dtypes.of_code(t.elem_type) for name, t in tensors.items()}
    types |= {t.name: dtypes.of_code(t.data_type) for t in typed.initializer}
    return judge(
        case.node,
        case.source,
        case.target,
        types.get,
        shape_of=lambda name: case.feeds[name].shape if name in case.feeds else None,
        value_of=lambda name: case.feeds[name].tolist() if name in case.initializers else None,
    )


def same(before: list[np.ndarray], after: list[np.ndarray]) -> bool:
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(before, after, strict=True))


X = data(2, 3, 4, 5)
IMAGE = data(1, 2, 6, 6)
BN = (data(3), data(3, low=0), data(3), data(3, low=0.5))
INDEX = np.array([[0, 1, 1], [1, 0, 0]], np.int64)
ROIS = np.array([[0, 0, 4, 4]], np.float32)
GRID = data(1, 3, 3, 2, low=-1, high=1)

SAME = [
    *(case(op, a, b, X) for op in ("Relu", "Sigmoid", "Tanh", "Exp", "Neg") for a, b in ((7, 22), (22, 7))),
    case("Add", 14, 7, X, X[0]),
    case("Mul", 7, 14, X, X[:, :1]),
    case("Max", 13, 8, X, X[0]),
    case("Sum", 13, 7, X, X),
    case("MatMul", 13, 7, data(2, 3), data(3, 4)),
    case("Gemm", 13, 7, data(2, 3), data(3, 4), data(4), alpha=0.5),
    case("Conv", 22, 7, IMAGE, data(3, 2, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    case("ConvTranspose", 7, 22, IMAGE, data(2, 3, 3, 3), auto_pad="SAME_LOWER", strides=[2, 2]),
    case("AveragePool", 18, 7, IMAGE, kernel_shape=[3, 3], auto_pad="SAME_LOWER", ceil_mode=0),
    case("MaxPool", 22, 7, IMAGE, kernel_shape=[2, 2], dilations=[1, 1], storage_order=1),
    case("MaxPool", 10, 22, IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, outputs=2),
    case("LpPool", 22, 11, IMAGE, kernel_shape=[2, 2], dilations=[1, 1]),
    case("BatchNormalization", 15, 7, X, *BN, training_mode=0),
    case("BatchNormalization", 7, 15, X, *BN),
    case("Softmax", 13, 9, X),
    case("Softmax", 9, 13, X, axis=3),
    case("LogSoftmax", 11, 13, data(3, 4)),
    case("Hardmax", 13, 11, X, axis=-1),
    case("Split", 13, 18, data(6, 2), outputs=3),
    case("Split", 18, 11, data(2, 6), outputs=3, axis=1, num_outputs=3),
    case("Reshape", 21, 7, X, ints(6, -1), constant=(1,), allowzero=1),
    case("Reshape", 5, 21, X, ints(0, -1), constant=(1,)),
    case("Transpose", 21, 7, X, perm=[3, 1, 0, 2]),
    case("Concat", 13, 9, X, X, axis=-1),
    case("Flatten", 13, 9, X, axis=-2),
    case("Gather", 13, 9, X, INDEX, axis=1),
    case("Unsqueeze", 11, 9, X, axes=[0, -1]),
    case("ReduceMean", 13, 9, X, axes=[-1], keepdims=0),
    case("ReduceSum", 9, 13, X),
    case("ReduceMax", 18, 13, X, noop_with_empty_axes=0),
    case("ArgMax", 13, 9, X, axis=-1, select_last_index=0),
    case("TopK", 11, 10, X, ints(2), outputs=2, largest=1, sorted=1),
    case("Clip", 6, 13, X),
    case("Clip", 13, 11, X, np.array(-1, np.float32), np.array(1, np.float32)),
    case("Cast", 23, 9, X, to=TensorProto.INT32, saturate=1),
    case("Cast", 13, 23, X, to=TensorProto.FLOAT16),
    case("Shape", 21, 13, X, start=0),
    case("Slice", 13, 10, X, ints(1), ints(3), ints(2), ints(1)),
    case("Pad", 21, 11, X, ints(0, 0, 1, 1, 0, 0, 0, 2), mode="reflect"),
    case("ScatterElements", 18, 11, data(2, 3), INDEX, data(2, 3), reduction="none", axis=0),
    case("ScatterND", 11, 18, data(3, 3), ints(1)[None], data(1, 3)),
    case("Resize", 13, 18, IMAGE, None, np.array([1, 1, 1.5, 0.7], np.float32), mode="linear"),
    case("Resize", 19, 13, IMAGE, None, None, ints(1, 2, 9, 4), mode="cubic", antialias=0, keep_aspect_ratio_policy="stretch"),
    case("RoiAlign", 10, 16, IMAGE, ROIS, ints(0), output_height=2, output_width=2),
    case("RoiAlign", 16, 10, IMAGE, ROIS, ints(0), output_height=2, output_width=2, coordinate_transformation_mode="output_half_pixel"),
    case("GridSample", 16, 20, IMAGE, GRID),
    case("GridSample", 20, 16, IMAGE, GRID, mode="cubic", padding_mode="border"),
    case("DFT", 17, 20, data(1, 4, 1), axis=1),
    case("DFT", 20, 17, data(1, 4, 4, 1)),
    case("Dropout", 7, 13, X, ratio=0.9),
    case("Dropout", 13, 10, X),
    case("Mod", 28, 13, data(4, dtype=np.int32, low=-9, high=9), np.array([2, -3, 4, 5], np.int32)),
    case("Pow", 13, 7, np.abs(X), X),
    case("Range", 11, 27, np.array(1, np.float32), np.array(9, np.float32), np.array(0.7, np.float32)),
    case("LSTM", 14, 7, data(2, 1, 4), data(1, 12, 4), data(1, 12, 3), outputs=1, layout=0, hidden_size=3),
    case("GRU", 7, 14, data(2, 1, 4), data(1, 9, 4), data(1, 9, 3), hidden_size=3),
    case("OneHot", 11, 9, INDEX, ints(3), np.array([0, 1], np.float32)),
    case("DepthToSpace", 13, 7, data(1, 4, 2, 2), blocksize=2, mode="DCR"),
    case("Where", 16, 9, X > 0, X, -X),
    case("Erf", 13, 9, X),
    case("Identity", 21, 7, X),
]


@pytest.mark.parametrize("case", SAME, ids=str)
def test_what_moves_computes_the_same(case: Case) -> None:
    found = verdict(case)
    assert found.reasons == ()
    moved = NodeProto()
    moved.CopyFrom(case.node)
    carry_out(moved, found.edits)
    assert same(run(case, case.node, case.source), run(case, moved, case.target))


def fails_or_differs(case: Case) -> bool:
    before = run(case, case.node, case.source)
    try:
        after = run(case, case.node, case.target)
    except (RuntimeError, ort_errors.Fail, ort_errors.InvalidGraph, ort_errors.NotImplemented, shape_inference.InferenceError):
        return True
    return not same(before, after)


EDIT_NEEDED = [
    case("Flatten", 11, 9, X, axis=-1),
    case("RoiAlign", 10, 16, IMAGE, ROIS, ints(0), output_height=2, output_width=2),
    case("Softmax", 13, 11, X),
    case("Split", 13, 18, data(6, 2), outputs=3),
    case("GridSample", 16, 20, IMAGE, GRID, mode="bicubic"),
    case("AveragePool", 19, 18, IMAGE, kernel_shape=[2, 2], dilations=[1, 1]),
]


@pytest.mark.parametrize("case", EDIT_NEEDED, ids=str)
def test_edits_are_needed(case: Case) -> None:
    assert verdict(case).edits
    assert fails_or_differs(case)


NOT_THE_SAME = [
    case("Softmax", 11, 13, X),
    case("Softmax", 13, 11, X, axis=1),
    case("Hardmax", 11, 13, X, axis=2),
    case("Dropout", 10, 12, X, outputs=2),
    case("Split", 18, 13, data(7), outputs=2, num_outputs=2),
    case("RoiAlign", 16, 10, IMAGE, ROIS, ints(0), output_height=2, output_width=2),
    case("DFT", 17, 20, data(1, 4, 4, 1)),
    case("Resize", 11, 10, IMAGE, data(0), np.array([1, 1, 2, 2], np.float32)),
    case("Resize", 10, 11, IMAGE, np.array([1, 1, 2, 2], np.float32)),
    case("BatchNormalization", 9, 14, X, *BN, outputs=5),
    case("Squeeze", 11, 13, data(1, 2), axes=[0]),
    case("Squeeze", 13, 11, data(1, 2), ints(0)),
    case("ReduceMax", 13, 18, X, axes=[1]),
    case("ReduceMax", 18, 13, X, noop_with_empty_axes=1),
    case("Reshape", 14, 13, data(0, 3), ints(3, 0), allowzero=1),
    case("ArgMax", 12, 11, data(2, 3), select_last_index=1),
    case("Clip", 6, 11, X, min=0.0),
    case("AveragePool", 19, 18, IMAGE, kernel_shape=[2, 2], dilations=[2, 2]),
    case("Shape", 15, 13, X, start=1),
    case("Sum", 8, 7, X, X[0]),
    case("Max", 13, 7, data(4, dtype=np.int32), data(4, dtype=np.int32)),
    case("Relu", 14, 13, data(4, dtype=np.int32)),
    case("Pow", 12, 7, X, np.array(2, np.int32)),
]


@pytest.mark.parametrize("case", NOT_THE_SAME, ids=str)
def test_what_is_refused_would_fail_or_differ(case: Case) -> None:
    assert verdict(case).reasons
    assert fails_or_differs(case)
