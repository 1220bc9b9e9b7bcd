"""``scales`` and ``collapse``: parameters that are computed from constants are constants, equal ones are told once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from qdqtool import dtypes as d
from tests.passes.folded import codes, constants, folded, kinds, model, node, ops, scales

T = TensorProto


def computed(held: dict[str, Any], *nodes: Any, opset: int = 21, **attributes: Any) -> ModelProto:
    """W[8, 4] dequantized by `t` (and `z`, if there is one), which the nodes compute."""
    zero = ["z"] if "z" in held or any("z" in n.output for n in nodes) else []
    step = node("DequantizeLinear", ["W", "t", *zero], "w", **attributes)
    return model([*nodes, step, node("Cast", ["w"], "y", to=T.FLOAT)], {"W": codes(d.INT8, 8, 4)} | held, {}, opset=opset)


FOLDED: dict[str, ModelProto] = {
    "product": computed({"s": scales(4), "k": np.float32(3)}, node("Mul", ["s", "k"], "t"), opset=13),
    "quotient in float16": computed({"s": scales(4, dtype=np.float16), "k": np.float16(3)}, node("Div", ["s", "k"], "t")),
    "sum, difference, root": computed(
        {"s": scales(4), "k": scales(4)},
        node("Add", ["s", "k"], "a"),
        node("Sub", ["a", "s"], "b"),
        node("Sqrt", ["b"], "c"),
        node("Neg", ["c"], "t"),
    ),
    "cast": computed({"s": scales(4, dtype=np.float64)}, node("Cast", ["s"], "t", to=T.FLOAT), opset=13),
    "identity": computed({"s": scales(4)}, node("Identity", ["s"], "t"), opset=13),
    "reshape": computed({"s": scales(4, 1), "a": np.int64([-1])}, node("Reshape", ["s", "a"], "t"), opset=13),
    "squeeze": computed({"s": scales(1, 4)}, node("Squeeze", ["s"], "t"), opset=13),
    "unsqueeze of blocks": computed({"s": scales(4), "a": np.int64([0])}, node("Unsqueeze", ["s", "a"], "t"), axis=0, block_size=8),
    "zero point from the graph": computed({"t": scales(4), "k": np.int32([1, 2, 3, 4])}, node("Cast", ["k"], "z", to=T.INT8), opset=13),
    "gather": computed({"s": scales(6), "a": np.int64([5, 0, 1, 1])}, node("Gather", ["s", "a"], "t"), opset=13),
    "constant nodes": computed({"s": scales(4)}, node("Constant", [], "k", value_float=0.5), node("Mul", ["s", "k"], "t"), opset=13),
}


@pytest.mark.parametrize("name", FOLDED)
def test_arithmetic_in_front_of_a_parameter_is_done(name: str) -> None:
    folding = folded(FOLDED[name])
    assert ops(folding) == ["DequantizeLinear", "Cast"]
    assert set(kinds(folding)) == {"scales"}
    assert folding.bytes[1] <= folding.bytes[0]


def test_it_can_be_left_out() -> None:
    assert folded(FOLDED["product"], scales=False).folds == ()


def test_quantized_scales_stay_quantized() -> None:
    """A scale that is dequantized itself would grow to four times its size."""
    nodes = node("DequantizeLinear", ["q", "u"], "t")
    assert folded(computed({"q": np.abs(codes(d.INT8, 4)), "u": np.float32(0.1)}, nodes, opset=13)).folds == ()


def test_repeated_scales_are_not_spelled_out() -> None:
    large = model(
        [node("Expand", ["s", "n"], "t"), node("DequantizeLinear", ["W", "t"], "y", axis=0)],
        {"W": codes(d.INT8, 64, 2), "s": np.float32([0.5]), "n": np.int64([64])},
        {},
        opset=13,
    )
    assert folded(large).folds == ()


def test_other_arithmetic_stays() -> None:
    nodes = [node("Mul", ["a", "b"], "c"), node("MatMul", ["x", "c"], "y")]
    assert folded(model(nodes, {"a": scales(8, 4), "b": np.float32(2)})).folds == ()


def equal(*shape: int) -> Any:
    return np.full(shape, 0.25, np.float32)


def params(scale: Any, zero: Any, **attributes: int) -> ModelProto:
    nodes = [node("DequantizeLinear", ["W", "s", "z"], "y", name="dq", **attributes)]
    return model(nodes, {"W": codes(d.INT8, 8, 4), "s": scale, "z": zero}, {}, opset=21)


COLLAPSED = {
    "an axis": (params(equal(4), np.int8([3] * 4), axis=1), ()),
    "blocks of one tensor": (params(equal(4, 4), np.zeros((4, 4), np.int8), axis=0, block_size=2), ()),
    "blocks of columns": (params(np.tile(scales(1, 4), (4, 1)), np.zeros((4, 4), np.int8), axis=0, block_size=2), (4,)),
    "blocks in pairs": (params(np.repeat(scales(2, 4), 2, 0), np.zeros((4, 4), np.int8), axis=0, block_size=2), (2, 4)),
}
VARIED = {
    "an axis of other zero points": params(equal(4), np.int8([3, 3, 3, 4]), axis=1),
    "an axis": params(scales(4), np.zeros(4, np.int8), axis=1),
    "blocks": params(scales(4, 4), np.zeros((4, 4), np.int8), axis=0, block_size=2),
}


@pytest.mark.parametrize("name", COLLAPSED)
def test_equal_scales_are_told_once(name: str) -> None:
    proto, shape = COLLAPSED[name]
    assert folded(proto).folds == ()
    folding = folded(proto, collapse=True)
    assert kinds(folding) == ["collapse"]
    made = folding.model.graph.node[0]
    assert constants(folding)[made.input[1]] == ("float32", shape)
    assert (made.name, made.output[0], folding.kept) == ("dq", "y", 1)


@pytest.mark.parametrize("name", VARIED)
def test_other_scales_stay(name: str) -> None:
    assert folded(VARIED[name], collapse=True).folds == ()


def test_moved_scales_are_told_once_as_well() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], "w", axis=0), node("Transpose", ["w"], "y")]
    folding = folded(model(nodes, {"W": codes(d.INT8, 8, 4), "s": equal(8)}, {}, opset=21), collapse=True, move=True)
    (made,) = folding.model.graph.node
    assert constants(folding)[made.input[1]] == ("float32", ())
    assert "block_size" not in [a.name for a in made.attribute]
    assert helper.printable_node(made).count("axis") == 0


def test_a_constant_node_behind_an_identity_is_read_directly() -> None:
    nodes = [node("Constant", [], "k", value_float=0.5), node("Identity", ["k"], "t"), node("QuantizeLinear", ["x", "t"], "q")]
    proto = model([*nodes, node("DequantizeLinear", ["q", "t"], "y")], {})
    for tidy in (False, True):
        assert ops(folded(proto, tidy=tidy)) == ["Constant", "QuantizeLinear", "DequantizeLinear"]


def test_an_identity_that_is_an_output_stays() -> None:
    nodes = [node("Identity", ["s"], "y"), node("DequantizeLinear", ["W", "y"], "z")]
    proto = model(nodes, {"W": codes(d.INT8, 8, 4), "s": scales(4)}, {}, {"y": T.FLOAT, "z": T.FLOAT})
    assert folded(proto).folds == ()


def test_a_value_that_is_used_again_and_again_takes_no_time() -> None:
    """Its expression would be spelled out 2**40 times."""
    nodes = [node("Add", [f"t{i}", f"t{i}"], f"t{i + 1}") for i in range(40)]
    proto = model([*nodes, node("DequantizeLinear", ["W", "t40"], "y")], {"W": codes(d.INT8, 8, 4), "t0": np.float32(1e-9)}, {})
    assert folded(proto).folds == ()


def test_depth_and_width_that_are_common_are_no_limit() -> None:
    nodes = [node("Mul", [f"t{i}", "k"], f"t{i + 1}") for i in range(30)]
    proto = model(
        [*nodes, node("DequantizeLinear", ["W", "t30"], "y")], {"W": codes(d.INT8, 8, 4), "t0": np.float32(1), "k": np.float32(0.9)}, {}
    )
    assert ops(folded(proto)) == ["DequantizeLinear"]


def test_steps_whose_scales_are_told_once_read_what_stands_for_a_cancelled_pair() -> None:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q", axis=1),
        node("DequantizeLinear", ["q", "s", "z"], "d", axis=1),
        node("QuantizeLinear", ["d", "s", "z"], "r", axis=1),
        node("DequantizeLinear", ["r", "s", "z"], "y", axis=1),
    ]
    folding = folded(model(nodes, {"s": equal(8), "z": np.int8([3] * 8)}), collapse=True)
    assert [list(n.input)[:1] + list(n.output) for n in folding.model.graph.node] == [["x", "q"], ["q", "y"]]


def test_scales_are_told_once_and_codes_stay_uncomputed() -> None:
    nodes = [node("QuantizeLinear", ["W", "s"], "q", axis=0), node("DequantizeLinear", ["q", "t"], "y", axis=0)]
    held = {"W": scales(8, 4), "s": scales(8), "t": equal(8)}
    folding = folded(model(nodes, held, {}), collapse=True, quantize=False)
    assert (ops(folding), kinds(folding)) == (["QuantizeLinear", "DequantizeLinear"], ["collapse"])
    assert kinds(folded(model(nodes, held, {}), collapse=True)) == ["quantize", "collapse"]


def test_equal_codes_are_read_under_the_name_of_the_first() -> None:
    nodes = []
    for i in range(2):
        nodes += [node("QuantizeLinear", ["W", "s"], f"q{i}", axis=0), node("DequantizeLinear", [f"q{i}", f"t{i}"], f"w{i}", axis=0)]
    held = {"W": scales(8, 4), "s": scales(8), "t0": equal(8), "t1": equal(8) * 2}
    folding = folded(model([*nodes, node("Add", ["w0", "w1"], "y")], held, {}), collapse=True)
    assert [n.input[0] for n in folding.model.graph.node] == ["q0", "q0", "w0"]
