"""Products of integers that are scaled afterwards, as dynamic quantization writes them, and products of dequantized operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import qdqtool
from qdqtool.errors import Usage
from qdqtool.exactness import Exactness
from tests.dialects.layouts import Array, built, constants, operators, run

SUM = 2.0**-19
CHAIN = ["DynamicQuantizeLinear", "MatMulInteger", "Cast", "Mul", "Mul"]
STEPS = ["DequantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMul"]


def chain(
    op: str = "MatMulInteger",
    kind: type = np.int8,
    columns: int = 0,
    zero: bool = True,
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((5, 12), (12, 7)),
    seed: int = 0,
    turned: bool = False,
    **attributes: Any,
) -> tuple[ModelProto, dict[str, Array]]:
    """``x`` quantized by the run, multiplied by weights, scaled."""
    rng, info = np.random.default_rng(seed), np.iinfo(kind)
    parameters = (columns,) if columns else ()
    held: dict[str, Array] = {
        "w": rng.integers(info.min, info.max + 1, shapes[1]).astype(kind),
        "ws": rng.uniform(0.01, 0.1, parameters).astype(np.float32),
    }
    held |= {"wz": np.asarray(rng.integers(0, 9, parameters), kind)} if zero else {}
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], "quantize"),
        helper.make_node(op, ["q", "w", "z", *["wz"] * zero], ["sum"], "product", **attributes),
        helper.make_node("Cast", ["sum"], ["real"], "cast", to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "ws"], ["scale"], "scales"),
        helper.make_node("Mul", ["scale", "real"] if turned else ["real", "scale"], ["y"], "scaled"),
    ]
    feeds = {"x": rng.normal(size=shapes[0]).astype(np.float32)}
    return built(nodes, [("x", TensorProto.FLOAT, shapes[0])], [("y", TensorProto.FLOAT)], held), feeds


WEIGHTS = ((1, 3, 8, 7), (4, 3, 3, 3))
LAYOUTS: dict[str, dict[str, Any]] = {
    "int8": {},
    "uint8": {"kind": np.uint8},
    "by column": {"columns": 7},
    "uint8 by column": {"kind": np.uint8, "columns": 7},
    "no zero point": {"zero": False},
    "no zero point by column": {"zero": False, "columns": 7},
    "scale first": {"turned": True},
    "three dimensions": {"shapes": ((2, 5, 12), (12, 7)), "columns": 7},
    "convolution": {"op": "ConvInteger", "kind": np.uint8, "shapes": WEIGHTS},
    "padded convolution": {"op": "ConvInteger", "kind": np.uint8, "shapes": WEIGHTS, "pads": [1, 0, 1, 2], "strides": [2, 1]},
    "signed convolution": {"op": "ConvInteger", "shapes": WEIGHTS, "zero": False},
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_chain_becomes_steps_and_comes_back(layout: dict[str, Any]) -> None:
    original, feeds = chain(**layout)
    expected = run(original, feeds)["y"]
    there = qdqtool.convert(original, to="qdq")
    plain = {"MatMulInteger": "MatMul", "ConvInteger": "Conv"}[layout.get("op", "MatMulInteger")]
    assert sorted(operators(there.model)) == sorted([*STEPS[:3], plain])
    back = qdqtool.convert(there.model, to="matmulinteger")
    assert sorted(operators(back.model)) == sorted(operators(original))
    for result in (there, back):
        assert result.check is not None
        assert result.check.verdict == "within bound"
        assert np.abs(run(result.model, feeds)["y"] - expected).max() <= SUM * np.abs(expected).max()
    kept = [{name: value.tobytes() for name, value in constants(m).items()} for m in (original, there.model, back.model)]
    assert kept[0] == kept[1] == kept[2]
    assert run(back.model, feeds)["y"].tobytes() == expected.tobytes()


@settings(max_examples=25, deadline=None)
@given(st.sampled_from((np.int8, np.uint8)), st.tuples(*[st.integers(1, 30)] * 3), st.booleans(), st.booleans(), st.integers(0, 1 << 20))
def test_any_product(kind: type, sizes: tuple[int, int, int], by_column: bool, zero: bool, seed: int) -> None:
    m, k, n = sizes
    original, feeds = chain(kind=kind, columns=n * by_column, zero=zero, shapes=((m, k), (k, n)), seed=seed)
    expected = run(original, feeds)["y"]
    there = qdqtool.convert(original, to="qdq", check=False).model
    assert "MatMul" in operators(there)
    assert np.abs(run(there, feeds)["y"] - expected).max() <= SUM * np.abs(expected).max()
    assert run(qdqtool.convert(there, to="matmulinteger", check=False).model, feeds)["y"].tobytes() == expected.tobytes()


def test_steps_read_scale_and_zero_point_of_the_run() -> None:
    model = qdqtool.convert(chain()[0], to="qdq").model
    assert [n.input for n in model.graph.node if n.op_type == "DequantizeLinear"] == [["q", "s", "z"], ["w", "ws", "wz"]]


def test_products_of_ai_onnx_stay_with_ai_onnx_alone() -> None:
    assert operators(qdqtool.convert(chain()[0], to="ai.onnx").model) == CHAIN


def test_qdq_is_all_that_is_asked_for() -> None:
    with pytest.raises(Usage, match="exclude each other"):
        qdqtool.convert(chain()[0], to="qdq,matmulnbits")


def test_exact_keeps_the_chain() -> None:
    result = qdqtool.convert(chain()[0], to="qdq", exact=True)
    assert operators(result.model) == CHAIN
    assert result.notes == ("1 pattern stays, not fused as qdq: only an equal up to rounding form exists (qdq)",)


def _read_twice(model: ModelProto) -> None:
    model.graph.output.append(helper.make_tensor_value_info("sum", TensorProto.INT32, None))


def _scales_of_channels(model: ModelProto) -> None:
    scale = next(t for t in model.graph.initializer if t.name == "ws")
    scale.CopyFrom(numpy_helper.from_array(np.ones((4, 1, 1), np.float32), "ws"))


PARTED: dict[str, tuple[dict[str, Any], Callable[[ModelProto], None]]] = {
    "its sum is a result": ({}, _read_twice),
    "a convolution's channels": ({"op": "ConvInteger", "kind": np.uint8, "shapes": WEIGHTS}, _scales_of_channels),
}


@pytest.mark.parametrize(("layout", "change"), PARTED.values(), ids=PARTED)
def test_of_what_is_no_such_chain_the_product_alone_is_taken(layout: dict[str, Any], change: Callable[[ModelProto], None]) -> None:
    original, feeds = chain(**layout)
    change(original)
    result = qdqtool.convert(original, to="qdq")
    assert {"Cast", "Mul", "DequantizeLinear"} < set(operators(result.model))
    assert result.changes[0].exactness is Exactness.BIT_EQUAL
    assert all(np.array_equal(value, run(result.model, feeds)[name]) for name, value in run(original, feeds).items())


def weights(node: list[NodeProto], **held: Array) -> ModelProto:
    return built(node, [("x", TensorProto.INT8, (4, 4))], [("y", TensorProto.FLOAT)], held)


def test_what_the_kernels_lack_stays() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "rows"], ["wr"], axis=0),
        helper.make_node("MatMul", ["xr", "wr"], ["y"]),
    ]
    held: dict[str, Array] = {"s": np.array(0.1, np.float32), "w": np.ones((4, 4), np.int8), "rows": np.ones(4, np.float32)}
    result = qdqtool.convert(weights(nodes, **held), to="matmulinteger")
    assert operators(result.model) == operators(weights(nodes, **held))
    assert result.notes == (
        "1 pattern stays, not fused as matmulinteger: MatMulInteger has no scales for its rows, nor ConvInteger for its channels",
    )


def test_a_bias_is_added_to_the_product() -> None:
    original, feeds = chain("ConvInteger", np.uint8, shapes=WEIGHTS)
    steps = qdqtool.convert(original, to="qdq").model
    steps.graph.initializer.append(numpy_helper.from_array(np.arange(4, dtype=np.float32), "bias"))
    next(n for n in steps.graph.node if n.op_type == "Conv").input.append("bias")
    back = qdqtool.convert(steps, to="matmulinteger").model
    assert operators(back) == ["DynamicQuantizeLinear", "ConvInteger", "Cast", "Mul", "Mul", "Add"]
    expected = run(steps, feeds)["y"]
    assert np.abs(run(back, feeds)["y"] - expected).max() <= SUM * np.abs(expected).max()


def alone(op: str, kinds: tuple[type, type], shapes: tuple[tuple[int, ...], tuple[int, ...]], zeros: int, columns: int) -> ModelProto:
    """A product of integers whose sums are the result."""
    types = [helper.np_dtype_to_tensor_dtype(np.dtype(kind)) for kind in kinds]
    held: dict[str, Array] = {"xz": np.array(7, kinds[0]), "wz": np.full((columns,) if columns else (), 5, kinds[1])}
    names = ["x", "w", "xz", "wz"][: 2 + zeros]
    node = helper.make_node(op, names, ["y"], "product")
    inputs = [(name, dtype, shape) for name, dtype, shape in zip("xw", types, shapes, strict=True)]
    return built([node], inputs, [("y", TensorProto.INT32)], {name: held[name] for name in names[2:]})


ALONE = {
    "matrices": ("MatMulInteger", (np.uint8, np.int8), ((5, 40), (40, 7)), 2, 0),
    "columns": ("MatMulInteger", (np.int8, np.int8), ((2, 5, 40), (40, 7)), 2, 7),
    "no zero points": ("MatMulInteger", (np.uint8, np.uint8), ((5, 40), (40, 7)), 0, 0),
    "one zero point": ("MatMulInteger", (np.uint8, np.uint8), ((5, 40), (40, 7)), 1, 0),
    "long": ("MatMulInteger", (np.uint8, np.uint8), ((3, 3000), (3000, 2)), 2, 0),
    "convolution": ("ConvInteger", (np.uint8, np.uint8), WEIGHTS, 2, 0),
}


@pytest.mark.parametrize("layout", ALONE.values(), ids=ALONE)
def test_a_product_alone_is_one_of_codes_dequantized_by_one(layout: tuple[Any, ...]) -> None:
    original, rng = alone(*layout), np.random.default_rng(0)
    _, kinds, shapes, _, _ = layout
    extremes = [rng.choice([np.iinfo(kind).min, np.iinfo(kind).max], shape).astype(kind) for kind, shape in zip(kinds, shapes, strict=True)]
    feeds = dict(zip("xw", extremes, strict=True))
    there = qdqtool.convert(original, to="qdq")
    assert {"DequantizeLinear", "Cast"} < set(operators(there.model))
    expected = run(original, feeds)["y"]
    gap = np.abs(run(there.model, feeds)["y"].astype(np.int64) - expected)
    exact = there.changes[0].exactness is Exactness.BIT_EQUAL
    assert exact == (shapes[1][0] < 258)
    assert gap.max() <= (0 if exact else SUM * np.abs(expected).max())
    back = qdqtool.convert(there.model, to="matmulinteger").model
    assert operators(back) == operators(original)
    assert run(back, feeds)["y"].tobytes() == expected.tobytes()
