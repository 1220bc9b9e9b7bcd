"""Integer operators: every layout against ONNX Runtime's kernel, and back to the same node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdqtool
from qdqtool.errors import Refused
from tests.dialects.layouts import MICROSOFT, Array, built, operators, run
from tests.dialects.qoperators import KINDS, POOLS, REALS, TABLE, Case, drawn

SUM = 2.0**-19
BIT_EQUAL = ("QLinearConcat", "QLinearWhere", "QLinearLeakyRelu")


def close(case: Case, before: Array, after: Array) -> bool:
    """Within what is promised for the operator."""
    if case.op in BIT_EQUAL:
        return before.tobytes() == after.tobytes()
    gap = np.abs(before.astype(np.float64) - after.astype(np.float64)).max()
    return bool(gap <= (SUM * np.abs(before).max() if case.real else 1))


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_it_becomes_a_plain_operator_between_dequantize_and_quantize(case: Case) -> None:
    made = drawn(case)
    result = qdqtool.convert(made.model, to="ai.onnx")
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    assert len(result.check.steps) == 1
    assert {node.domain for node in result.model.graph.node} == {""}
    assert case.op not in operators(result.model)
    assert close(case, run(made.model, made.feeds)["y"], run(result.model, made.feeds)["y"])


MOVED = [case for case in TABLE if case.op == "QLinearSoftmax" and case.attributes["opset"] < 13 and case.attributes["axis"] < 2]
"""Softmax below opset 13 flattens the dimensions from its axis on; the nodes that do so from there on stay."""

FUSED = [case for case in TABLE if case not in (*REALS, *MOVED)]


@pytest.mark.parametrize("case", FUSED, ids=str)
def test_there_and_back_gives_the_same_node(case: Case) -> None:
    original = drawn(case).model
    back = qdqtool.convert(qdqtool.convert(original, to="ai.onnx", check=False).model, to="qoperator")
    assert back.check is not None
    assert back.check.verdict in ("equal", "within bound")
    assert described(back.model, case) == described(original, case)


def described(model: ModelProto, case: Case) -> tuple[object, ...]:
    """Operator, operands as flat constants or names, attributes; without what says the same in other words."""
    (node,) = model.graph.node
    held = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    operands = [(held[i].dtype, held[i].reshape(-1).tolist()) if i in held else i for i in node.input]
    if case.bias is not None and case.vector and case.bias[-1:] != (case.vector,):
        operands[6] = "repeated for columns that have scales of their own"
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if case.op in ("QLinearSoftmax", "QLinearConcat"):
        attributes = {"axis": attributes["axis"] % len(case.shapes[0])}
    return node.op_type, node.name, operands, attributes


TIES = (
    *(Case(op, kinds, ((3, 400), (3, 400))) for op in ("QLinearAdd", "QLinearMul", "QLinearWhere") for kinds in ("uuu", "iii")),
    *(replace(case, shapes=((3, 5, 9, 8),)) for case in POOLS if not case.attributes.get("channels_last")),
    Case("QLinearConcat", "uuu", ((2, 300), (2, 500)), {"axis": 1}),
    *(Case("QLinearLeakyRelu", kinds, ((4, 256),), {"alpha": 0.5}) for kinds in ("uu", "ii")),
)


@pytest.mark.parametrize("zero", [4, 5])
@pytest.mark.parametrize("case", TIES, ids=str)
def test_ties_move_by_one_step_and_only_with_an_odd_zero_point(case: Case, zero: int) -> None:
    made = drawn(case)
    for tensor in made.model.graph.initializer:
        value = numpy_helper.to_array(tensor)
        if tensor.name.endswith("_scale"):
            tensor.CopyFrom(numpy_helper.from_array(np.full_like(value, 2.0 if tensor.name == "y_scale" else 0.5), tensor.name))
        elif tensor.name == "y_zero":
            tensor.CopyFrom(numpy_helper.from_array(np.full_like(value, zero), tensor.name))
    after = qdqtool.convert(made.model, to="ai.onnx").model
    before = run(made.model, made.feeds)["y"].astype(int)
    gap = np.abs(before - run(after, made.feeds)["y"])
    exact = case.op in (*BIT_EQUAL, "QLinearGlobalAveragePool")
    assert gap.max() == (0 if zero % 2 == 0 or exact else 1)


@pytest.mark.parametrize("op", ["QLinearLeakyRelu", "QLinearConcat", "QLinearWhere"])
def test_bit_equal_ones_are_so_for_every_code_and_many_scales(op: str) -> None:
    shapes, kinds = (((256,), (256,)), "uuu") if op != "QLinearLeakyRelu" else (((256,),), "uu")
    for seed in range(60):
        made = drawn(Case(op, kinds, shapes, {"axis": 0} if op == "QLinearConcat" else {}), seed)
        made.feeds |= {name: np.arange(256, dtype=np.uint8) for name in made.feeds if name != "condition"}
        after = qdqtool.convert(made.model, to="ai.onnx", check=False).model
        assert run(made.model, made.feeds)["y"].tobytes() == run(after, made.feeds)["y"].tobytes()


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(3, 9), st.integers(3, 9)),
    st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 3)),
    st.booleans(),
    st.booleans(),
    st.tuples(*[st.integers(0, 2)] * 4),
    st.integers(0, 1 << 20),
)
def test_any_convolution(
    kinds: str, x: tuple[int, ...], w: tuple[int, int, int], vector: bool, biased: bool, pads: tuple[int, ...], seed: int
) -> None:
    shapes = x, (w[0], x[1], *w[1:])
    _there_and_back(Case("QLinearConv", kinds, shapes, {"pads": pads}, (1,), vector * w[0], (w[0],) if biased else None, ""), seed)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KINDS), *[st.integers(1, 40)] * 3, st.booleans(), st.booleans(), st.integers(0, 1 << 20))
def test_any_product(kinds: str, m: int, k: int, n: int, vector: bool, gemm: bool, seed: int) -> None:
    op, domain = ("QGemm", MICROSOFT) if gemm else ("QLinearMatMul", "")
    _there_and_back(Case(op, kinds, ((m, k), (k, n)), {}, (1,), vector * n, (n,) if gemm else None, domain), seed)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(("QLinearAdd", "QLinearMul")),
    st.sampled_from(("uuu", "iii")),
    st.lists(st.integers(1, 7), min_size=1, max_size=4),
    st.data(),
)
def test_any_broadcast(op: str, kinds: str, shape: list[int], data: st.DataObject) -> None:
    cut = shape[data.draw(st.integers(0, len(shape) - 1)) :]
    other = tuple(data.draw(st.sampled_from((1, size))) for size in cut)
    _there_and_back(Case(op, kinds, (tuple(shape), other)), data.draw(st.integers(0, 1 << 20)))


def _there_and_back(case: Case, seed: int) -> None:
    made = drawn(case, seed)
    expected = run(made.model, made.feeds)["y"]
    there = qdqtool.convert(made.model, to="ai.onnx", check=False).model
    assert close(case, expected, run(there, made.feeds)["y"])
    back = qdqtool.convert(there, to="qoperator", check=False).model
    assert operators(back) == [case.op]
    assert np.array_equal(expected, run(back, made.feeds)["y"])


@pytest.mark.parametrize("case", REALS, ids=str)
def test_exact_keeps_the_product_one_of_integers(case: Case) -> None:
    made = drawn(case)
    exact = qdqtool.convert(made.model, to="ai.onnx", exact=True)
    assert "MatMulInteger" in operators(exact.model)
    assert run(exact.model, made.feeds)["y"].tobytes() == run(made.model, made.feeds)["y"].tobytes()


def test_exact_takes_what_is_bit_equal_and_refuses_the_rest() -> None:
    concat = drawn(Case("QLinearConcat", "uuu", ((2, 3), (2, 5)), {"axis": 1})).model
    assert operators(qdqtool.convert(concat, to="ai.onnx", exact=True).model) == [
        "DequantizeLinear",
        "DequantizeLinear",
        "Concat",
        "QuantizeLinear",
    ]
    with pytest.raises(Refused, match="equal up to rounding"):
        qdqtool.convert(drawn(Case("QLinearAdd", "uuu", ((3,), (3,)))).model, to="ai.onnx", exact=True)


@pytest.mark.parametrize("opset", [13, 17, 18, 21])
def test_reduce_mean_which_has_no_kernel_becomes_runnable(opset: int) -> None:
    case = Case("QLinearReduceMean", "uu", ((2, 3, 4),), {"axes": [1], "keepdims": 1}, opset=opset)
    made = drawn(case)
    after = qdqtool.convert(made.model, to="ai.onnx", check=False).model
    held = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in made.model.graph.initializer}
    mean = ((made.feeds["a"] - held["a_zero"]) * held["a_scale"]).mean(1, keepdims=True)
    expected = np.clip(np.rint(mean / held["y_scale"]) + held["y_zero"], 0, 255)
    assert np.abs(run(after, made.feeds)["y"] - expected).max() <= 1


def test_bias_scales_are_the_products_of_the_others() -> None:
    case = Case("QLinearConv", "uiu", ((1, 4, 9, 8), (6, 4, 3, 3)), {}, (1,), 6, (6,), "")
    original = drawn(case).model
    after = qdqtool.convert(original, to="ai.onnx").model
    held = {t.name: numpy_helper.to_array(t) for model in (original, after) for t in model.graph.initializer}
    node = next(n for n in after.graph.node if n.input[0] == "bias")
    assert np.array_equal(held[node.input[1]], held["a_scale"] * held["b_scale"])


def test_without_a_dialect_they_stay() -> None:
    for case in (TABLE[0], Case("QLinearAdd", "uuu", ((3,), (3,)))):
        assert operators(qdqtool.convert(drawn(case).model, opset=23).model) == [case.op]


def _stay(case: Case, **changed: Array) -> tuple[str, ...]:
    """Notes about what is not fused when constants of the steps are others."""
    steps = qdqtool.convert(drawn(case).model, to="ai.onnx").model
    for tensor in steps.graph.initializer:
        if tensor.name in changed:
            tensor.CopyFrom(numpy_helper.from_array(changed[tensor.name], tensor.name))
    result = qdqtool.convert(steps, to="qoperator")
    assert case.op not in operators(result.model)
    return result.notes


CONV = Case("QLinearConv", "uiu", ((1, 4, 9, 8), (6, 4, 3, 3)), {}, (1,), 6, (6,), "")


def test_a_bias_with_another_scale_stays() -> None:
    steps = qdqtool.convert(drawn(CONV).model, to="ai.onnx").model
    node = next(n for n in steps.graph.node if n.input[0] == "bias")
    steps.graph.initializer.append(numpy_helper.from_array(np.ones(6, np.float32), "own"))
    node.input[1] = "own"
    result = qdqtool.convert(steps, to="qoperator")
    assert "QLinearConv" not in operators(result.model)
    assert result.notes == ("1 pattern stays, not fused as qoperator: the scale of its bias is not the product of the other two",)


def test_zero_points_that_differ_by_channel_stay() -> None:
    assert _stay(CONV, b_zero=np.arange(6, dtype=np.int8)) == (
        "1 pattern stays, not fused as qoperator: the zero points of its weights differ, and QLinearConv takes one for all",
    )


def _steps(x: int, w: int, y: int, op: str = "MatMul") -> ModelProto:
    """A product of dequantized operands, quantized, of the given types."""
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "xz"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "s", "wz"], ["wr"]),
        helper.make_node(op, ["xr", "wr"], ["r"], "product"),
        helper.make_node("QuantizeLinear", ["r", "s", "yz"], ["y"]),
    ]
    model = built(nodes, [("x", x, (4, 4))], [("y", y)], {"s": np.array(0.1, np.float32)})
    for name, dtype, shape in (("w", w, (4, 4)), ("xz", x, ()), ("wz", w, ()), ("yz", y, ())):
        model.graph.initializer.append(helper.make_tensor(name, dtype, shape, [1] * int(np.prod(shape))))
    return model


U8, I8, I16 = TensorProto.UINT8, TensorProto.INT8, TensorProto.INT16
TYPED = {
    "int8 by uint8": (_steps(I8, U8, I8), "ONNX Runtime has no QLinearMatMul of int8 and uint8 to int8"),
    "uint8 to int8": (_steps(U8, I8, I8), "ONNX Runtime has no QLinearMatMul of uint8 and int8 to int8"),
    "int16": (_steps(I16, I8, I16), "QLinearMatMul takes no int16"),
    "two types": (_steps(U8, I8, U8, "Add"), "ONNX Runtime has no QLinearAdd of uint8 and int8 to uint8"),
}


@pytest.mark.parametrize(("steps", "reason"), TYPED.values(), ids=TYPED)
def test_types_without_a_kernel_stay(steps: ModelProto, reason: str) -> None:
    result = qdqtool.convert(steps, to="qoperator")
    assert "QuantizeLinear" in operators(result.model)
    assert result.notes == (f"1 pattern stays, not fused as qoperator: {reason}",)


def test_names_docs_and_metadata_stay_with_the_result() -> None:
    original = drawn(CONV).model
    original.graph.node[0].doc_string = "the first"
    there = qdqtool.convert(original, to="ai.onnx").model
    assert (there.graph.node[-1].op_type, there.graph.node[-1].name, there.graph.node[-1].doc_string) == (
        "QuantizeLinear",
        "node",
        "the first",
    )


def test_inspect_tells_weights_and_results() -> None:
    both = [drawn(CONV).model, drawn(Case("QLinearAdd", "iii", ((3,), (3,)))).model]
    forms = [row.form for model in both for row in qdqtool.inspect(model).quantized]
    said = [(form.op, form.storage, form.granularity) for form in forms]
    assert said == [("QLinearConv", "int8", "per axis 0"), ("QLinearAdd", "int8", "per tensor")]


@pytest.mark.full
@pytest.mark.parametrize("opset", [10, 13, 17, 23, 27])
def test_any_opset(opset: int) -> None:
    for case in (case for case in TABLE if case.opset == 21 and (opset > 10 or case.op != "DynamicQuantizeMatMul")):
        made = drawn(case)
        result = qdqtool.convert(made.model, to="ai.onnx", opset=opset)
        assert result.check is not None
        assert result.check.verdict in ("equal", "within bound"), case
        assert close(case, run(made.model, made.feeds)["y"], run(result.model, made.feeds)["y"]), case


def _in_a_branch(original: ModelProto) -> ModelProto:
    """The node in one branch of an If, an Identity of its operand in the other."""
    output = helper.make_tensor_value_info("y", TensorProto.UINT8, None)
    taken = helper.make_graph(list(original.graph.node), "taken", [], [output], list(original.graph.initializer))
    other = helper.make_graph([helper.make_node("Identity", ["a"], ["y"])], "other", [], [output])
    node = helper.make_node("If", ["condition"], ["y"], then_branch=taken, else_branch=other)
    inputs = [("condition", TensorProto.BOOL, ()), *_inputs(original)]
    return built([node], inputs, [("y", TensorProto.UINT8)], {})


def _in_a_function(original: ModelProto) -> ModelProto:
    """Two calls of a function that holds the node and gets its constants."""
    (node,) = original.graph.node
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    body = helper.make_function("local", "Sum", list(node.input), ["y"], [node], imports)
    calls = [helper.make_node("Sum", list(node.input), [f"y{i}"], f"call{i}", domain="local") for i in range(2)]
    held = {t.name: numpy_helper.to_array(t) for t in original.graph.initializer}
    model = built(calls, _inputs(original), [(f"y{i}", TensorProto.UINT8) for i in range(2)], held)
    model.functions.append(body)
    model.opset_import.append(helper.make_opsetid("local", 1))
    return model


def _inputs(model: ModelProto) -> list[tuple[str, int, list[int]]]:
    tensors = [(port.name, port.type.tensor_type) for port in model.graph.input]
    return [(name, tensor.elem_type, [d.dim_value for d in tensor.shape.dim]) for name, tensor in tensors]


@pytest.mark.parametrize("place", [_in_a_branch, _in_a_function])
def test_subgraphs_and_functions(place: Callable[[ModelProto], ModelProto]) -> None:
    made = drawn(Case("QLinearAdd", "uuu", ((3, 4), (3, 4))))
    original = place(made.model)
    feeds = made.feeds | ({"condition": np.array(True)} if place is _in_a_branch else {})
    there = qdqtool.convert(original, to="ai.onnx")
    assert there.check is not None
    assert there.check.verdict == "equal"
    assert "QLinearAdd" not in str(there.model)
    back = qdqtool.convert(there.model, to="qoperator").model
    assert str(back).count("QLinearAdd") == str(original).count("QLinearAdd")
    expected = run(original, feeds)
    assert all(np.array_equal(value, expected[name]) for model in (there.model, back) for name, value in run(model, feeds).items())


def test_types_are_known_behind_foreign_operators() -> None:
    """Inference of onnx stops at them; the Reshape of their codes goes to an opset where it must know its type."""
    made = drawn(Case("QLinearAdd", "iii", ((3, 4), (3, 4)), opset=21))
    made.model.graph.node[0].output[0] = "codes"
    made.model.graph.node.append(helper.make_node("Flatten", ["codes"], ["y"], "flat"))
    lower = qdqtool.convert(made.model, opset=13)
    assert operators(lower.model) == ["QLinearAdd", "Flatten"]
    assert np.array_equal(run(lower.model, made.feeds)["y"], run(made.model, made.feeds)["y"])


def _with_relu(kind: str, zero: int) -> ModelProto:
    """Steps around a Conv and a Relu, whose result has this zero point."""
    original = drawn(replace(TABLE[0], types=kind)).model
    given = next(t for t in original.graph.initializer if t.name == "y_zero")
    given.CopyFrom(numpy_helper.from_array(np.array(zero, numpy_helper.to_array(given).dtype), "y_zero"))
    steps = qdqtool.convert(original, to="ai.onnx").model
    *rest, last = steps.graph.node
    relu = helper.make_node("Relu", [last.input[0]], ["positive"], "relu")
    last.input[0] = "positive"
    del steps.graph.node[:]
    steps.graph.node.extend([*rest, relu, last])
    return steps


@pytest.mark.parametrize(("kind", "zero"), [("uuu", 0), ("iii", -128)])
def test_a_relu_that_the_zero_point_does_too_is_left_out_and_restored(kind: str, zero: int) -> None:
    steps, feeds = _with_relu(kind, zero), drawn(replace(TABLE[0], types=kind)).feeds
    fused = qdqtool.convert(steps, to="qoperator").model
    assert operators(fused) == ["QLinearConv"]
    assert np.array_equal(run(fused, feeds)["y"], run(steps, feeds)["y"])
    back = qdqtool.convert(fused, to="ai.onnx").model
    assert operators(back) == operators(steps)
    assert not back.graph.node[-1].metadata_props


@pytest.mark.parametrize(("kind", "zero"), [("uuu", 1), ("iii", 0)])
def test_a_relu_that_cuts_more_stays(kind: str, zero: int) -> None:
    result = qdqtool.convert(_with_relu(kind, zero), to="qoperator")
    assert "Relu" in operators(result.model)
    assert result.notes == ("1 pattern stays, not fused as qoperator: its Relu cuts what its zero point would not",)


def test_averages_over_what_lies_beyond_the_padding_differ_and_stay() -> None:
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1, "count_include_pad": 1}
    with pytest.raises(Refused, match="two kernels differ"):
        qdqtool.convert(drawn(Case("QLinearAveragePool", "uu", ((1, 1, 5, 5),), attributes)).model, to="ai.onnx")
