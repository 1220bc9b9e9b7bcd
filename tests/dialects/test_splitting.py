"""What splitting fused operators asks of the target, keeps in metadata, and refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdqtool
from qdqtool.errors import Refused, Usage
from tests.dialects.layouts import MICROSOFT, Layout, built, constants, drawn, model, operators, run, weights

NARROW = Layout(n=8)


def simple(layout: Layout = NARROW) -> ModelProto:
    return model(layout, drawn(layout))


def storage(proto: ModelProto) -> str:
    """Type and shape of the codes that the first dequantize reads."""
    node = next(n for n in proto.graph.node if n.op_type == "DequantizeLinear")
    tensor = next(t for t in proto.graph.initializer if t.name == node.input[0])
    return f"{TensorProto.DataType.Name(tensor.data_type)}{list(tensor.dims)} x{len(node.input)}"


FORMS = {
    "as it is": ({}, "none", "INT4[64, 8] x2"),
    "with zero points": ({}, "packed", "UINT4[64, 8] x3"),
    "signed": ({"codes": "signed"}, "packed", "INT4[64, 8] x3"),
    "unsigned": ({"codes": "unsigned"}, "none", "UINT4[64, 8] x3"),
    "transposed": ({"weights": "transposed"}, "none", "INT4[8, 64] x2"),
    "opset 21": ({"opset": 21}, "none", "INT4[64, 8] x2"),
    "opset 17": ({"opset": 17}, "none", "INT8[16, 32] x2"),
    "opset 13": ({"opset": 13}, "packed", "UINT8[16, 32] x3"),
}


@pytest.mark.parametrize(("options", "zero", "expected"), FORMS.values(), ids=FORMS)
def test_the_form_is_a_matter_of_choice_and_target(options: dict[str, object], zero: str, expected: str) -> None:
    layout = Layout(n=8, zero=zero)
    result = qdqtool.convert(simple(layout), to="ai.onnx", **options)  # type: ignore[arg-type]
    assert storage(result.model) == expected
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    assert np.array_equal(run(result.model, {"A": np.eye(64, dtype=np.float32)})["y0"], weights(layout, drawn(layout)))


def test_zero_points_of_zero_are_left_out() -> None:
    layout, numbers = Layout(zero="packed"), drawn(Layout(zero="packed"))
    assert numbers.zero is not None
    numbers.zero[:] = 0
    assert storage(qdqtool.convert(model(layout, numbers), to="ai.onnx").model) == "UINT4[64, 24] x2"


RAISED = {"4 bits": (4, 18, 21), "2 bits": (2, 18, 25), "8 bits": (8, 18, 21), "high enough": (4, 23, 23)}


@pytest.mark.parametrize(("bits", "source", "expected"), RAISED.values(), ids=RAISED)
def test_the_opset_is_raised_to_the_first_that_has_the_steps(bits: int, source: int, expected: int) -> None:
    original = simple(Layout(bits))
    original.opset_import[0].version = source
    result = qdqtool.convert(original, to="ai.onnx")
    assert result.target_opset == expected
    raised = f"opset {expected} chosen: the first that has the steps of its fused operators"
    assert (raised in result.notes) == (expected > source)


def test_the_opset_stays_where_the_model_cannot_be_raised() -> None:
    original = simple()
    original.opset_import[0].version = 9
    original.training_info.add().algorithm.node.append(helper.make_node("Upsample", ["A", "factors"], ["up"]))
    with pytest.raises(Refused, match="training_info"):
        qdqtool.convert(original, to="ai.onnx", opset=21, check=False)
    assert qdqtool.convert(original, to="ai.onnx", check=False).target_opset == 9


def test_what_ai_onnx_has_no_word_for_is_kept_in_metadata_and_restored() -> None:
    original = simple(Layout(level=4, bias=True))
    there = qdqtool.convert(original, to="ai.onnx").model
    remarks = {(n.op_type, entry.key, entry.value) for n in there.graph.node for entry in n.metadata_props}
    assert remarks == {("Add", "qdqtool.accuracy_level", "4"), ("Add", "qdqtool.bias", "1")}
    back = qdqtool.convert(there, to="matmulnbits").model
    assert operators(back) == ["MatMulNBits"]
    assert {a.name: a.i for a in back.graph.node[0].attribute}["accuracy_level"] == 4
    assert not back.graph.node[0].metadata_props


def test_a_bias_that_was_no_part_of_the_operator_stays_outside() -> None:
    original = simple()
    original.graph.node[0].output[0] = "product"
    original.graph.node.append(helper.make_node("Add", ["product", "bias"], ["y0"], "add"))
    original.graph.initializer.append(numpy_helper.from_array(np.ones(8, np.float32), "bias"))
    back = qdqtool.convert(qdqtool.convert(original, to="ai.onnx").model, to="matmulnbits").model
    assert operators(back) == ["MatMulNBits", "Add"]


def test_names_docs_and_metadata_stay_with_the_product() -> None:
    original = simple()
    original.graph.node[0].doc_string = "the head"
    original.graph.node[0].metadata_props.add(key="origin", value="torch")
    node = qdqtool.convert(original, to="ai.onnx").model.graph.node[-1]
    assert (node.op_type, node.name, node.doc_string) == ("MatMul", "product0", "the head")
    assert [(e.key, e.value) for e in node.metadata_props] == [("origin", "torch")]


def test_without_a_dialect_fused_operators_stay() -> None:
    result = qdqtool.convert(simple(), opset=23)
    assert operators(result.model) == ["MatMulNBits"]


def _prepacked(proto: ModelProto) -> None:
    proto.graph.node[0].attribute.append(helper.make_attribute("weight_prepacked", 1))


def _at_run_time(proto: ModelProto) -> None:
    proto.graph.input.append(helper.make_tensor_value_info("B", TensorProto.UINT8, (8, 2, 16)))


def _misshapen(proto: ModelProto) -> None:
    next(a for a in proto.graph.node[0].attribute if a.name == "N").i = 9


REFUSED: dict[str, tuple[Callable[[ModelProto], None], str]] = {
    "prepacked": (_prepacked, "its weights are laid out for one execution provider (weight_prepacked)"),
    "at run time": (_at_run_time, "its weights, scales, zero points or groups are not constant here"),
    "misshapen": (_misshapen, "its weights have the shape [8, 2, 16]"),
}


@pytest.mark.parametrize(("change", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_split_is_refused_with_its_reason(change: Callable[[ModelProto], None], reason: str) -> None:
    original = simple()
    change(original)
    with pytest.raises(Refused) as caught:
        qdqtool.convert(original, to="ai.onnx")
    (refusal,) = caught.value.reasons
    assert refusal.at == "main / product0"
    assert refusal.reasons[0] == reason


@pytest.mark.parametrize("layout", [Layout(zero="packed", groups="mixed"), Layout(bits=2, groups="mixed")], ids=str)
def test_groups_that_onnxruntime_ignores_are_approximate(layout: Layout) -> None:
    with pytest.raises(Refused, match="only an approximate form exists"):
        qdqtool.convert(simple(layout), to="ai.onnx")
    result = qdqtool.convert(simple(layout), to="ai.onnx", allow_approximate=True, check=False).model
    assert np.array_equal(run(result, {"A": np.eye(64, dtype=np.float32)})["y0"], weights(layout, drawn(layout)))


def test_exact_refuses_sums_in_another_order() -> None:
    with pytest.raises(Refused, match="equal up to rounding"):
        qdqtool.convert(simple(), to="ai.onnx", exact=True)


@pytest.mark.parametrize("to", ["matmulnbit", "ai.onnx,matmulnbits", "ai.onnx,com.microsoft"])
def test_dialects_that_are_unknown_or_exclude_each_other(to: str) -> None:
    with pytest.raises(Usage):
        qdqtool.convert(simple(), to=to)


def test_weights_that_are_arguments_of_a_function_are_split_where_it_is_inlined() -> None:
    flat = simple()
    node = flat.graph.node[0]
    body = helper.make_function(
        "local", "Linear", ["A", "B", "scales"], ["y0"], [node], [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    )
    call = helper.make_node("Linear", ["A", "B", "scales"], ["y0"], "call", domain="local")
    original = built([call], [("A", TensorProto.FLOAT, (3, 64))], [("y0", TensorProto.FLOAT)], constants(flat))
    original.functions.append(body)
    original.opset_import.append(helper.make_opsetid("local", 1))
    result = qdqtool.convert(original, to="ai.onnx")
    assert operators(result.model) == ["DequantizeLinear", "MatMul"]
    assert result.check is not None
    assert result.check.verdict == "equal"


def test_inspect_tells_the_weights() -> None:
    rows = [row.form for row in qdqtool.inspect(simple(Layout(8, 64, 64))).quantized]
    assert [(f.op, f.storage, f.expressed, f.granularity) for f in rows] == [
        ("MatMulNBits", "uint8", "float32", "blocks of 64 along axis 1")
    ]


RUNTIMES = {
    "before the operator": ("ort@1.15", Layout(n=8), False),
    "before 8 bits": ("ort@1.20", Layout(8, n=8), False),
    "before the bias": ("ort@1.17", Layout(n=8, bias=True), False),
    "with all of it": ("ort@1.32", Layout(8, n=8, bias=True), True),
}


@pytest.mark.parametrize(("target", "layout", "stays"), RUNTIMES.values(), ids=RUNTIMES)
def test_a_runtime_gets_what_it_has_a_kernel_of(target: str, layout: Layout, stays: bool) -> None:
    result = qdqtool.convert(simple(layout), target=target)
    assert ("MatMulNBits" in operators(result.model)) == stays
    assert np.array_equal(
        run(result.model, {"A": np.eye(64, dtype=np.float32)})["y0"], run(simple(layout), {"A": np.eye(64, dtype=np.float32)})["y0"]
    )


def test_nothing_is_fused_that_a_runtime_has_no_kernel_of() -> None:
    split = qdqtool.convert(simple(Layout(8, n=8)), to="ai.onnx").model
    result = qdqtool.convert(split, to="matmulnbits", target="ort@1.20")
    assert operators(result.model) == ["DequantizeLinear", "MatMul"]
    assert any("ort@1.20 has no com.microsoft MatMulNBits with bits 8" in note for note in result.notes)


def test_every_spelling_of_a_mixed_model_becomes_ai_onnx() -> None:
    mixed = simple()
    mixed.graph.node[0].input[0] = "x"
    mixed.graph.node.insert(0, helper.make_node("DequantizeLinear", ["A", "a_scale"], ["x"], "dq", domain=MICROSOFT))
    mixed.graph.input[0].type.tensor_type.elem_type = TensorProto.INT16
    mixed.graph.initializer.append(numpy_helper.from_array(np.array(0.25, np.float32), "a_scale"))
    result = qdqtool.convert(mixed, to="ai.onnx")
    assert [(n.op_type, n.domain) for n in result.model.graph.node] == [
        (op, "") for op in ("DequantizeLinear", "DequantizeLinear", "MatMul")
    ]
    assert [o.domain for o in result.model.opset_import] == [""]


ORDERS = {
    "ordered": ["DequantizeLinear", "MatMul"],
    "mixed": ["Gather", "DequantizeLinear", "MatMul"],
    "uneven": ["DequantizeLinear", "Gather", "Mul", "Gather", "Sub", "MatMul"],
}


@pytest.mark.parametrize(("groups", "expected"), ORDERS.items(), ids=ORDERS)
def test_groups_become_blocks_where_they_have_that_size(groups: str, expected: list[str]) -> None:
    assert operators(qdqtool.convert(simple(Layout(n=8, groups=groups)), to="ai.onnx").model) == expected
