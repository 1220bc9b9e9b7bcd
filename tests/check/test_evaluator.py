import numpy as np
import pytest
from onnx import TensorProto, helper

from qdqtool import dtypes
from qdqtool.check import sessions
from qdqtool.check.evaluator import Evaluator
from qdqtool.check.sessions import CannotRun
from tests.check.builders import FLOAT, FLOAT16, INT8, model, node

X = np.array([-1e30, -3.5, -0.5, 0.5, 1.5, 2.5, 1e30, np.inf, -np.inf], np.float32)


def _both(proto: object, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    with sessions.session(proto.SerializeToString(), sessions.Setting()) as opened:  # type: ignore[attr-defined]
        runtime = sessions.run(opened, inputs, ["y"])["y"]
    return np.asarray(runtime), np.asarray(Evaluator(proto).run(inputs, ["y"])["y"])  # type: ignore[arg-type]


@pytest.mark.parametrize("opset", [10, 13, 19, 21, 23, 25])
def test_quantize_saturates_at_both_ends_as_the_runtime_does(opset: int) -> None:
    made = node("QuantizeLinear", ["x", "s", "z"], ["y"])
    proto = model([made], [("x", FLOAT, [9])], [("y", INT8)], opset=opset, s=np.float32(1), z=np.int8(-3))
    runtime, ours = _both(proto, {"x": X})
    assert (runtime == ours).all()
    assert ours.min() == -128


@pytest.mark.parametrize("opset", [10, 13, 19, 21, 25])
def test_dequantize_runs_at_every_opset(opset: int) -> None:
    proto = model(
        [node("DequantizeLinear", ["x", "s", "z"], ["y"])], [("x", INT8, [5])], [("y", FLOAT)], opset=opset, s=np.float32(0.1), z=np.int8(3)
    )
    runtime, ours = _both(proto, {"x": np.array([-128, -1, 0, 1, 127], np.int8)})
    assert (runtime == ours).all()


@pytest.mark.parametrize("opset", [19, 21, 23])
def test_float16_is_divided_as_the_runtime_does(opset: int) -> None:
    x = (np.arange(20000) % 2000 * 0.00061 - 0.6).astype(np.float16)
    made = node("QuantizeLinear", ["x", "s", "z"], ["y"])
    proto = model([made], [("x", FLOAT16, [20000])], [("y", INT8)], opset=opset, s=np.float16(0.0123), z=np.int8(0))
    runtime, ours = _both(proto, {"x": x})
    assert (runtime == ours).all()


def test_microsofts_operators_and_functions_are_known() -> None:
    body = [
        node("QuantizeLinear", ["a", "b"], ["c"], domain="com.microsoft"),
        node("DequantizeLinear", ["c", "b"], ["d"], domain="com.microsoft"),
    ]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    function = helper.make_function("local", "Pair", ["a", "b"], ["d"], body, imports)
    proto = model(
        [node("Pair", ["x", "s"], ["y"], domain="local")], [("x", FLOAT, [9])], [("y", FLOAT)], functions=[function], s=np.float32(1)
    )
    runtime, ours = _both(proto, {"x": X})
    assert (runtime == ours).all()


def test_dynamic_quantize_agrees_with_the_runtime() -> None:
    proto = model([node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], [("x", FLOAT, ["n"])], [("y", TensorProto.UINT8)])
    for x in (np.linspace(-3, 7, 999, dtype=np.float32), np.linspace(1, 2, 7, dtype=np.float32), np.zeros(3, np.float32)):
        runtime, ours = _both(proto, {"x": x})
        assert (runtime == ours).all()


def test_the_main_domain_may_be_spelled_out() -> None:
    proto = model([node("Relu", ["x"], ["y"], domain="ai.onnx")], [("x", FLOAT, [9])], [("y", FLOAT)])
    proto.opset_import[0].domain = "ai.onnx"
    assert (np.asarray(Evaluator(proto).run({"x": X}, ["y"])["y"]) == np.maximum(X, 0)).all()


def test_float6_at_opset_28() -> None:
    proto = model(
        [node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=dtypes.FLOAT6E2M3.code), node("DequantizeLinear", ["q", "s"], ["y"])],
        [("x", FLOAT, [4])], [("y", FLOAT)], opset=28, s=np.float32(2),
    )  # fmt: skip
    result = Evaluator(proto).run({"x": np.array([1, 0.25, 100, -100], np.float32)}, ["y"])["y"]
    assert np.asarray(result).tolist() == [1.0, 0.25, 15.0, -15.0]


def test_what_it_does_not_know_is_a_reason() -> None:
    proto = model([node("Mine", ["x"], ["y"], domain="com.mine")], [("x", FLOAT, [9])], [("y", FLOAT)])
    with pytest.raises(CannotRun, match=r"com\.mine"):
        Evaluator(proto)
    matmul = model([node("MatMul", ["x", "x"], ["y"])], [("x", FLOAT, [2, 3])], [("y", FLOAT)])
    with pytest.raises(CannotRun, match="size 2 is different from 3"):
        Evaluator(matmul).run({"x": np.zeros((2, 3), np.float32)}, ["y"])
