"""Products with dequantized weights as exporters write them, fused to MatMulNBits and split again to what they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import qdqtool
from tests.dialects.layouts import MICROSOFT, Array, built, constants, operators, run

TYPES = {name: getattr(TensorProto, name.upper()) for name in ("int2", "uint2", "int4", "uint4", "int8", "uint8")}


@dataclass(frozen=True)
class Steps:
    """``DequantizeLinear`` of weights before a product; `scale` is block, axis or tensor."""

    storage: str = "int4"
    scale: str = "block"
    zero: bool = False
    k: int = 64
    n: int = 12
    block: int = 32
    transposed: bool = False
    product: str = "MatMul"
    bias: bool = False

    def __str__(self) -> str:
        marks = (self.storage, self.scale, "zero" * self.zero, f"k{self.k}", f"b{self.block}", "turned" * self.transposed, self.product)
        return "-".join(m for m in (*marks, "bias" * self.bias) if m)


TABLE = (
    *(Steps(storage, zero=zero, transposed=t) for storage in TYPES for zero in (False, True) for t in (False, True)),
    *(Steps(storage, scale, zero) for storage in ("int8", "uint4") for scale in ("axis", "tensor") for zero in (False, True)),
    *(Steps(product="Gemm", transposed=t, bias=bias) for t in (False, True) for bias in (False, True)),
    Steps(k=50),
    Steps(k=50, scale="axis", zero=True),
    Steps(k=96, block=48),
    Steps(k=40, block=40),
    Steps("uint8", k=200, block=16, zero=True),
)


def drawn(steps: Steps) -> ModelProto:
    rng = np.random.default_rng(0)
    half = 1 << int(steps.storage[-1]) - 1
    low, high = (0, 2 * half) if steps.storage[0] == "u" else (-half, half)
    k, n, axis = steps.k, steps.n, 1 if steps.transposed else 0
    parameters = {"block": (-(-k // steps.block), n), "axis": (n,), "tensor": ()}[steps.scale]
    codes, zeros = rng.integers(low, high, (k, n)), rng.integers(low, high, parameters)
    scale = (rng.random(parameters) + 0.1).astype(np.float32)
    if steps.transposed:
        codes, zeros, scale = codes.T, zeros.T, scale.T
    attributes: dict[str, Any] = {"block": {"axis": axis, "block_size": steps.block}, "axis": {"axis": 1 - axis}}.get(steps.scale, {})
    names = ["codes", "scale", "zeros"][: 3 if steps.zero else 2]
    nodes = [helper.make_node("DequantizeLinear", names, ["w"], "dq", **attributes), *product(steps)]
    held: dict[str, Array] = {"scale": scale, **({"bias": rng.normal(size=n).astype(np.float32)} if steps.bias else {})}
    opset = 25 if steps.storage[-1] == "2" else 21
    proto = built(nodes, [("A", TensorProto.FLOAT, ("m", k))], [("y", TensorProto.FLOAT)], held, opset)
    for name, values in (("codes", codes), ("zeros", zeros))[: 2 if steps.zero else 1]:
        proto.graph.initializer.append(helper.make_tensor(name, TYPES[steps.storage], values.shape, values.reshape(-1).tolist()))
    proto.ir_version = 13 if opset == 25 else 10
    return proto


def product(steps: Steps) -> list[NodeProto]:
    if steps.product == "Gemm":
        return [helper.make_node("Gemm", ["A", "w", *["bias"] * steps.bias], ["y"], "product", transB=int(steps.transposed))]
    turned = [helper.make_node("Transpose", ["w"], ["turned"], "turn", perm=[1, 0])] * steps.transposed
    return [*turned, helper.make_node("MatMul", ["A", "turned" if steps.transposed else "w"], ["y"], "product")]


@pytest.mark.parametrize("steps", TABLE, ids=str)
def test_it_becomes_one_operator_and_the_same_steps_again(steps: Steps) -> None:
    original = drawn(steps)
    fused = qdqtool.convert(original, to="matmulnbits")
    assert operators(fused.model) == ["MatMulNBits"]
    assert fused.model.graph.node[0].name == "product"
    assert fused.check is not None
    assert fused.check.verdict in ("equal", "within bound")
    assert len(fused.check.steps) == 1
    identity = {"A": np.eye(steps.k, dtype=np.float32)}
    expected = run(original, identity)["y"]
    assert np.array_equal(run(fused.model, identity)["y"], expected)
    back = qdqtool.convert(fused.model, to="ai.onnx").model
    assert np.array_equal(run(back, identity)["y"], expected)
    if steps.product == "MatMul":
        assert operators(back) == operators(original)
        assert stored(original, 0).tobytes() == stored(back, 0).tobytes()
        assert all(np.array_equal(stored(original, slot), stored(back, slot)) for slot in (1, 2)[: 2 if steps.zero else 1])
        assert back.graph.node[0].attribute == original.graph.node[0].attribute or steps.scale == "tensor"


def _changed(original: ModelProto, value: float) -> ModelProto:
    """Fused, and one scale changed afterwards."""
    fused = qdqtool.convert(original, to="matmulnbits").model
    scale = next(t for t in fused.graph.initializer if t.data_type == TensorProto.FLOAT)
    numbers = numpy_helper.to_array(scale).copy()
    numbers[0, 1] = value
    scale.CopyFrom(numpy_helper.from_array(numbers, scale.name))
    return fused


@pytest.mark.parametrize("steps", [Steps("int8", "axis", k=256), Steps("int8", "tensor", k=256), Steps(k=96, block=48)], ids=str)
def test_scales_that_no_longer_repeat_stay_in_blocks(steps: Steps) -> None:
    fused = _changed(drawn(steps), 7.0)
    back = qdqtool.convert(fused, to="ai.onnx")
    assert back.check is not None
    assert back.check.verdict in ("equal", "within bound")
    assert stored(back.model, 1).size == constants(fused)[fused.graph.node[0].input[2]].size


def stored(model: ModelProto, slot: int) -> Array:
    """An operand of the dequantize."""
    node = next(n for n in model.graph.node if n.op_type == "DequantizeLinear")
    return np.ascontiguousarray(constants(model)[node.input[slot]])


LEFT = {
    "float8": ("MatMulNBits has no float8e4m3fn weights", TensorProto.FLOAT8E4M3FN, 32),
    "small blocks": ("its scales follow K otherwise than in blocks of 16, 32, 64 ...", TensorProto.INT4, 8),
}


@pytest.mark.parametrize(("why", "dtype", "block"), LEFT.values(), ids=LEFT)
def test_what_it_has_no_word_for_stays(why: str, dtype: int, block: int) -> None:
    dq = helper.make_node("DequantizeLinear", ["codes", "scale"], ["w"], axis=0, block_size=block)
    scale = np.ones((64 // block, 4), np.float32)
    nodes = [dq, helper.make_node("MatMul", ["A", "w"], ["y"])]
    model = built(nodes, [("A", TensorProto.FLOAT, ("m", 64))], [("y", TensorProto.FLOAT)], {"scale": scale})
    model.graph.initializer.append(helper.make_tensor("codes", dtype, (64, 4), [1] * 256))
    result = qdqtool.convert(model, to="matmulnbits")
    assert operators(result.model) == ["DequantizeLinear", "MatMul"]
    assert result.notes == (f"1 pattern stays, not fused as matmulnbits: {why}",)
    assert result.kept == 1


def test_a_scaled_gemm_stays() -> None:
    original = drawn(Steps(product="Gemm"))
    original.graph.node[1].attribute.append(helper.make_attribute("alpha", 2.0))
    assert operators(qdqtool.convert(original, to="matmulnbits").model) == ["DequantizeLinear", "Gemm"]


def test_scales_of_a_narrower_type_are_widened() -> None:
    original = drawn(Steps())
    original.opset_import[0].version = 23
    scale = next(t for t in original.graph.initializer if t.name == "scale")
    scale.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(scale).astype(np.float16), "scale"))
    original.graph.node[0].attribute.append(helper.make_attribute("output_dtype", TensorProto.FLOAT))
    fused = qdqtool.convert(original, to="matmulnbits").model
    identity = {"A": np.eye(64, dtype=np.float32)}
    assert np.array_equal(run(fused, identity)["y"], run(original, identity)["y"])


def _on_codes() -> ModelProto:
    """The input of the product is dequantized, too, and read by another node."""
    original = drawn(Steps("int8", "axis"))
    original.graph.node[1].input[0] = "x"
    dq = helper.make_node("DequantizeLinear", ["A", "a_scale"], ["x"], "dq_a")
    nodes = [dq, *original.graph.node, helper.make_node("Neg", ["x"], ["other"], "neg")]
    del original.graph.node[:]
    original.graph.node.extend(nodes)
    original.graph.input[0].type.tensor_type.elem_type = TensorProto.INT8
    original.graph.output.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, None))
    original.graph.initializer.append(numpy_helper.from_array(np.array(0.5, np.float32), "a_scale"))
    return original


def test_what_is_multiplied_may_be_dequantized_itself() -> None:
    original = _on_codes()
    fused = qdqtool.convert(original, to="matmulnbits")
    assert operators(fused.model) == ["DequantizeLinear", "MatMulNBits", "Neg"]
    assert fused.kept == 1
    feeds = {"A": np.eye(64, dtype=np.int8)}
    assert all(np.array_equal(value, run(original, feeds)[name]) for name, value in run(fused.model, feeds).items())


def _gemm_with_bias(shape: tuple[int, ...], *, constant: bool) -> ModelProto:
    original = drawn(Steps(product="Gemm", bias=True))
    bias = next(t for t in original.graph.initializer if t.name == "bias")
    if constant:
        bias.CopyFrom(numpy_helper.from_array(np.ones(shape, np.float32), "bias"))
    else:
        original.graph.initializer.remove(bias)
        original.graph.input.append(helper.make_tensor_value_info("bias", TensorProto.FLOAT, shape))
    return original


BIASES = {"row": ((1, 12), True, 1), "given": ((12,), False, 1), "column": ((12, 1), True, 2), "scalar": ((), True, 2)}


@pytest.mark.parametrize(("shape", "constant", "nodes"), BIASES.values(), ids=BIASES)
def test_a_bias_is_a_vector_along_n(shape: tuple[int, ...], constant: bool, nodes: int) -> None:
    original = _gemm_with_bias(shape, constant=constant)
    fused = qdqtool.convert(original, to="matmulnbits")
    assert len(fused.model.graph.node) == nodes
    assert fused.check is not None
    assert fused.check.verdict in ("equal", "within bound")
    assert len(fused.check.steps) == 2 - nodes


def test_inside_of_a_function_the_domain_is_imported_there() -> None:
    flat = drawn(Steps(storage="int8"))
    inside = [helper.make_node("Constant", [], [t.name], value=t) for t in flat.graph.initializer]
    body = helper.make_function("local", "Linear", ["A"], ["y"], [*inside, *flat.graph.node], [helper.make_opsetid("", 21)])
    call = helper.make_node("Linear", ["A"], ["y"], "call", domain="local")
    original = built([call], [("A", TensorProto.FLOAT, (3, 64))], [("y", TensorProto.FLOAT)], {})
    original.functions.append(body)
    original.opset_import.append(helper.make_opsetid("local", 1))
    fused = qdqtool.convert(original, to="matmulnbits").model
    (function,) = fused.functions
    assert {n.op_type for n in function.node} == {"Constant", "MatMulNBits"}
    assert {o.domain for o in function.opset_import} == {"", "com.microsoft"}
    back = qdqtool.convert(fused, to="ai.onnx").model
    assert {n.op_type for n in back.functions[0].node} == {"Constant", "DequantizeLinear", "MatMul"}
    feeds = {"A": np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)}
    assert np.array_equal(run(back, feeds)["y"], run(original, feeds)["y"])


def test_behind_an_operator_that_inference_does_not_know() -> None:
    original = drawn(Steps())
    original.graph.node[1].input[0] = "x"
    original.graph.node.insert(0, helper.make_node("Gelu", ["A"], ["x"], "gelu", domain=MICROSOFT))
    fused = qdqtool.convert(original, to="matmulnbits")
    assert operators(fused.model) == ["Gelu", "MatMulNBits"]
    assert fused.check is not None
    assert len(fused.check.steps) == 1
    back = qdqtool.convert(fused.model, to="ai.onnx").model
    feeds = {"A": np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)}
    assert np.array_equal(run(back, feeds)["y"], run(original, feeds)["y"])
