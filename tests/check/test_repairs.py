from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from qdqtool.check import sessions
from qdqtool.check.evaluator import Evaluator
from tests.check.builders import FLOAT, INT64, model, node

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4)).astype(np.float32)
IMAGE = RNG.normal(size=(1, 2, 5, 6)).astype(np.float32)
GRID = RNG.uniform(-1, 1, (1, 3, 3, 2)).astype(np.float32)
FOUR = np.array([1, 2, 3, 4], np.float32)
BOTH_WAYS = np.array([1, 1, 1.7, 0.6], np.float32)


def _one(op: str, opset: int, x: np.ndarray, *constants: Any, **attributes: Any) -> tuple[ModelProto, np.ndarray]:
    names = [f"c{i}" for i in range(len(constants))]
    made = node(op, ["x", *names], ["y"], **attributes)
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    proto = model([made], [("x", element, x.shape)], [("y", FLOAT)], opset=opset, **dict(zip(names, constants, strict=True)))
    return proto, x


def _loop(scanned: str) -> tuple[ModelProto, np.ndarray]:
    """Three rounds of doubling; what is scanned is the whole value or a single number."""
    inside = [node("Add", ["v", "v"], ["w"]), node("ReduceSum", ["w"], ["number"], keepdims=0), node("Identity", ["c"], ["d"])]
    info = helper.make_tensor_value_info
    inputs = [info("i", INT64, []), info("c", TensorProto.BOOL, []), info("v", FLOAT, [2, 3, 4])]
    outputs = [info("d", TensorProto.BOOL, []), info("w", FLOAT, [2, 3, 4]), info(scanned, FLOAT, None)]
    loop = node("Loop", ["n", "", "x"], ["last", "y"], body=helper.make_graph(inside, "body", inputs, outputs))
    return model([loop], [("x", FLOAT, [2, 3, 4])], [("y", FLOAT)], opset=13, n=np.array(3)), X


CASES = {
    "BatchNormalization 9": _one("BatchNormalization", 9, IMAGE, *np.abs(RNG.normal(size=(4, 2))).astype(np.float32)),
    "BatchNormalization 15": _one("BatchNormalization", 15, IMAGE, *np.abs(RNG.normal(size=(4, 2))).astype(np.float32)),
    **{f"{op} {opset}": _one(op, opset, X) for op in ("Softmax", "LogSoftmax", "Hardmax") for opset in (11, 13)},
    **{f"{op} 11 over 2": _one(op, 11, X, axis=2) for op in ("Softmax", "LogSoftmax", "Hardmax")},
    **{f"{op} 13 over 0": _one(op, 13, X, axis=0) for op in ("Softmax", "LogSoftmax", "Hardmax")},
    "Loop of tensors": _loop("w"),
    "Loop of numbers": _loop("number"),
    "OneHot with depth of shape [1]": _one("OneHot", 11, np.array([0, 2, -1]), np.array([4]), np.array([0.5, 2], np.float32)),
    "OneHot over 0": _one("OneHot", 11, np.array([[0, 2, 7]]), np.array(4), np.array([0, 1], np.float32), axis=0),
    "GatherElements with fewer indices": _one("GatherElements", 13, X, np.array([[[3, -1]], [[0, 1]]]), axis=2),
    "Resize 10 nearest": _one("Resize", 10, IMAGE, BOTH_WAYS),
    "Resize 10 linear": _one("Resize", 10, IMAGE, BOTH_WAYS, mode="linear"),
    "Resize 11": _one("Resize", 11, IMAGE, np.array([], np.float32), np.array([1, 1, 2, 2], np.float32), mode="linear"),
    "GridSample 16": _one("GridSample", 16, IMAGE, GRID),
    "GridSample 16 bilinear": _one("GridSample", 16, IMAGE, GRID, mode="bilinear"),
    "GridSample 20": _one("GridSample", 20, IMAGE, GRID, mode="linear"),
}


@pytest.mark.parametrize(("proto", "x"), CASES.values(), ids=CASES.keys())
def test_the_evaluator_agrees_with_the_runtime(proto: ModelProto, x: np.ndarray) -> None:
    with sessions.session(proto.SerializeToString(), sessions.Setting()) as opened:
        runtime = np.asarray(sessions.run(opened, {"x": x}, ["y"])["y"])
    ours = np.asarray(Evaluator(proto).run({"x": x}, ["y"])["y"])
    assert ours.shape == runtime.shape
    assert ours.dtype == runtime.dtype
    np.testing.assert_allclose(ours, runtime, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("op", ["MatMul", "Gemm"])
def test_a_product_does_not_depend_on_how_an_operand_lies_in_memory(op: str) -> None:
    weights = RNG.normal(size=(96, 64)).astype(np.float32)
    x = RNG.normal(size=(5, 96)).astype(np.float32)
    plain = model([node(op, ["x", "w"], ["y"])], [("x", FLOAT, [5, 96])], [("y", FLOAT)], w=weights)
    turned = [node("Transpose", ["w"], ["t"], perm=[1, 0]), node(op, ["x", "t"], ["y"])]
    view = model(turned, [("x", FLOAT, [5, 96])], [("y", FLOAT)], w=np.ascontiguousarray(weights.T))
    results = [np.asarray(Evaluator(proto).run({"x": x}, ["y"])["y"]) for proto in (plain, view)]
    assert results[0].tobytes() == results[1].tobytes()
    assert np.allclose(results[0], x @ weights, rtol=1e-5, atol=1e-5)


def test_gemm_transposes_scales_and_adds() -> None:
    a, b, c = (RNG.normal(size=shape).astype(np.float32) for shape in ((7, 3), (4, 7), (4,)))
    made = node("Gemm", ["x", "b", "c"], ["y"], transA=1, transB=1, alpha=0.5, beta=2.0)
    proto = model([made], [("x", FLOAT, [7, 3])], [("y", FLOAT)], b=b, c=c)
    result = np.asarray(Evaluator(proto).run({"x": a}, ["y"])["y"])
    assert np.allclose(result, 0.5 * (a.T @ b.T) + 2 * c, rtol=1e-5, atol=1e-5)
