"""Wrong results, planted into the staged file of an otherwise right conversion: the check alone must see each of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto

import qdqtool
from qdqtool import dtypes, result
from qdqtool.model import tensors
from qdqtool.model.stage import Staged
from tests.check.builders import FLOAT, FLOAT16, model, node, saved

Fault = Callable[[ModelProto], None]


def _network(dtype: int) -> ModelProto:
    """Two int4 layers in blocks, one read twice, around a 16-bit activation; square, so that nothing fails for its shape."""
    rng = np.random.default_rng(0)
    real = np.float16 if dtype == FLOAT16 else np.float32
    codes = {name: rng.integers(-8, 8, (32, 32)).astype(np.int8).astype(dtypes.INT4.numpy) for name in ("w0", "w1")}
    scales = {name: rng.uniform(0.05, 0.2, (2, 32)).astype(real) for name in ("s0", "s1")}
    zero = rng.integers(1, 4, (2, 32)).astype(np.int8).astype(dtypes.INT4.numpy)
    nodes = [
        node("DequantizeLinear", ["w0", "s0", "z0"], ["d0"], axis=0, block_size=16),
        node("MatMul", ["x", "d0"], ["m0"]),
        node("Add", ["m0", "bias"], ["b0"]),
        node("Relu", ["b0"], ["r0"]),
        node("QuantizeLinear", ["r0", "qs", "qz"], ["q"]),
        node("DequantizeLinear", ["q", "qs", "qz"], ["a"]),
        node("DequantizeLinear", ["w1", "s1"], ["d1"], axis=0, block_size=16),
        node("MatMul", ["a", "d1"], ["m1"]),
        node("Add", ["m1", "x"], ["y"]),
        node("MatMul", ["a", "d0"], ["z"]),
    ]
    rest = {"z0": zero, "bias": rng.normal(size=32).astype(real), "qs": real(0.05), "qz": np.uint16(3)}
    return model(nodes, [("x", dtype, ["n", 32])], [("y", dtype), ("z", dtype)], **codes, **scales, **rest)


def _node(proto: ModelProto, op: str, place: int = 0) -> NodeProto:
    return [made for made in proto.graph.node if made.op_type == op][place]


def _weight(proto: ModelProto, place: int, slot: int) -> TensorProto:
    """An operand of the dequantize node of the first or second weight."""
    names = {tensor.name: tensor for tensor in proto.graph.initializer}
    found = [made for made in proto.graph.node if made.op_type == "DequantizeLinear" and made.input[0] in names]
    return names[found[place].input[slot]]


def _changed(tensor: TensorProto, change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> None:
    tensor.CopyFrom(tensors.make(tensor.name, change(tensors.array(tensor, None).copy())))


def _one(change: Callable[[Any], Any], place: int = -1) -> Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    def changed(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        flat = values.reshape(-1)
        flat[place] = change(flat[place])
        return values

    return changed


def _up(value: Any) -> Any:
    return np.nextafter(value, type(value)(np.inf))


def _constant(proto: ModelProto, name: str) -> TensorProto:
    return next(tensor for tensor in proto.graph.initializer if tensor.name == name)


def _bypass(proto: ModelProto, made: NodeProto) -> None:
    source, target = made.input[0], made.output[0]
    proto.graph.node.remove(made)
    for other in proto.graph.node:
        other.input[:] = [source if name == target else name for name in other.input]


def _exchange_outputs(proto: ModelProto) -> None:
    last, other = _node(proto, "Add", -1), _node(proto, "MatMul", -1)
    last.output[0], other.output[0] = other.output[0], last.output[0]


def _without_zero_point(proto: ModelProto) -> None:
    del next(made for made in proto.graph.node if made.input[0] == _weight(proto, 0, 0).name).input[2]


def _scaled_output(proto: ModelProto) -> None:
    """One element of one output moves by less than a thousandth of its maximum."""
    last = _node(proto, "Add", -1)
    element = proto.graph.output[0].type.tensor_type.elem_type
    factor = np.ones(32, np.float16 if element == FLOAT16 else np.float32)
    factor[7] = 1 + 2**-10
    last.output[0] = "before"
    proto.graph.node.append(node("Mul", ["before", "factor"], ["y"]))
    proto.graph.initializer.append(tensors.make("factor", factor))


FAULTS: dict[str, Fault] = {
    "one code off by one": lambda m: _changed(_weight(m, 0, 0), _one(lambda v: v + 1 if v < 7 else v - 1)),
    "one code of the second layer": lambda m: _changed(_weight(m, 1, 0), _one(lambda v: v + 1 if v < 7 else v - 1, 40)),
    "one scale off by an ulp": lambda m: _changed(_weight(m, 0, 1), _one(_up)),
    "weights transposed": lambda m: _node(m, "Transpose").attribute[0].ints.reverse(),
    "scales in another order": lambda m: _changed(_weight(m, 1, 1), lambda v: v.reshape(-1)[::-1].reshape(v.shape).copy()),
    "zero point dropped": _without_zero_point,
    "scale of the activation off by an ulp": lambda m: _changed(_constant(m, "qs"), _one(_up)),
    "one bias off by an ulp": lambda m: _changed(_constant(m, "bias"), _one(_up, 5)),
    "outputs swapped": _exchange_outputs,
    "a node dropped": lambda m: _bypass(m, _node(m, "Relu")),
    "a node of another kind": lambda m: setattr(_node(m, "Relu"), "op_type", "LeakyRelu"),
    "the wrong weights": lambda m: _node(m, "MatMul", -1).input.__setitem__(1, _node(m, "MatMul", 1).input[1]),
    "one element of an output": _scaled_output,
    "an output that is gone": lambda m: m.graph.output.pop(),
}


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=["float32", "float16"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_planted_fault_is_different(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: int, fault: Fault) -> None:
    plain = result.stage

    def staged(*rest: Any, **named: Any) -> Staged:
        made = plain(*rest, **named)
        proto = ModelProto.FromString(made.model.read_bytes())
        fault(proto)
        saved(proto, made.model)
        return made

    monkeypatch.setattr(result, "stage", staged)
    original = saved(_network(dtype), tmp_path / "m.onnx")
    with pytest.raises(qdqtool.CheckFailed) as caught:
        qdqtool.convert(original, opset=13, output=tmp_path / "out.onnx")
    assert caught.value.report.verdict == "different"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.onnx"]


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=["float32", "float16"])
def test_without_a_fault_it_passes(tmp_path: Path, dtype: int) -> None:
    result = qdqtool.convert(saved(_network(dtype), tmp_path / "m.onnx"), opset=13)
    assert result.check is not None
    assert result.check.verdict == "equal"
