from __future__ import annotations

import time
from typing import Any

import pytest
from onnx import AttributeProto, NodeProto, helper

from qdqtool import dtypes as t
from qdqtool.opsets.edits import AttributeEdit, carry_out
from qdqtool.opsets.moves import edits, judge, move, unknown_at_source


def node(op: str, inputs: int = 1, outputs: int = 1, **attributes: Any) -> NodeProto:
    return helper.make_node(op, [f"x{i}" for i in range(inputs)], [f"y{i}" for i in range(outputs)], **attributes)


def floats(name: str) -> t.ElementType:
    return t.FLOAT


def indexed(name: str) -> t.ElementType:
    return t.INT64 if name == "x1" else t.FLOAT


def verdict(n: NodeProto, source: int, target: int, types: Any = floats, shape: Any = None, value: Any = None) -> list[str]:
    """`moves`, or what is edited, or the reasons."""
    found = judge(n, source, target, types, shape_of=lambda _: shape, value_of=lambda _: value, was=types)
    return list(found.reasons) or [str(e) for e in found.edits] or ["moves"]


MOVES = [
    (node("Relu"), 14, 13),
    (node("Relu"), 13, 28),
    (node("Squeeze"), 13, 11),
    (node("Clip"), 7, 11),
    (node("BatchNormalization", 5), 7, 15),
    (node("BatchNormalization", 5), 15, 7),
    (node("AveragePool", kernel_shape=[2]), 22, 7),
    (node("Softmax", axis=-1), 13, 11),
    (node("GridSample", 2), 16, 20),
    (node("DepthToSpace", blocksize=2), 13, 7),
    (node("Nonesuch"), 13, 7),
    (node("QLinearConv", 8), 8, 21),
    (helper.make_node("DequantizeLinear", ["x"], ["y"], "plain", domain="trt"), 21, 7),
    (helper.make_node("Relu", ["x"], ["y"], domain="ai.onnx"), 14, 13),
]


@pytest.mark.parametrize(("n", "source", "target"), MOVES)
def test_moves_as_it_is(n: NodeProto, source: int, target: int) -> None:
    assert verdict(n, source, target) == ["moves"]


EDITED = [
    (node("MaxPool", kernel_shape=[1], strides=[2], ceil_mode=1), 22, 21, (1, 1, 2), ["ceil_mode=0 written"]),
    (node("MaxPool", kernel_shape=[3], strides=[2], ceil_mode=1), 22, 21, (1, 1, 6), ["moves"]),
    (node("MaxPool", kernel_shape=[1], strides=[2], ceil_mode=1), 22, 21, None, ["moves"]),
    (node("AveragePool", kernel_shape=[3], strides=[3], pads=[1, 1], ceil_mode=1), 22, 19, (1, 1, 2), ["ceil_mode=0 written"]),
    (node("MaxPool", kernel_shape=[1, 3], strides=[2, 2], ceil_mode=1), 22, 21, (1, 1, 2, 6), ["moves"]),
    (node("Cast", to=1, saturate=0, round_mode="down"), 25, 13, None, ["round_mode dropped", "saturate dropped"]),
    (node("Cast", to=17, saturate=0, round_mode="down"), 25, 19, None, ["round_mode dropped"]),
    (node("ScatterND", 3, reduction="none"), 18, 13, None, ["reduction dropped"]),
    (node("CastLike", 2, saturate=0, round_mode="down"), 24, 15, None, ["round_mode dropped", "saturate dropped"]),
    (node("Dropout", seed=1), 13, 10, None, ["seed dropped"]),
    (node("Range", 3, stash_type=10), 27, 11, None, ["stash_type dropped"]),
    (node("Resize", 3, keep_aspect_ratio_policy="not_larger"), 18, 13, None, ["keep_aspect_ratio_policy dropped"]),
    (node("Shape", start=0), 15, 13, None, ["start dropped"]),
    (node("AveragePool", kernel_shape=[2], dilations=[1], ceil_mode=0), 19, 7, None, ["ceil_mode dropped", "dilations dropped"]),
    (node("BatchNormalization", 5, training_mode=0), 14, 9, None, ["training_mode dropped"]),
    (node("Dropout", ratio=0.3), 7, 13, None, ["ratio dropped"]),
    (node("Softmax"), 11, 13, (2, 3), ["axis=1 written"]),
    (node("Softmax"), 13, 11, None, ["axis=-1 written"]),
    (node("Softmax"), 13, 9, (2, 3, 4), ["axis=2 written"]),
    (node("Split", 1, 3), 13, 18, None, ["num_outputs=3 written"]),
    (node("Split", 1, 3, num_outputs=3, axis=1), 18, 13, (None, 6), ["num_outputs dropped"]),
    (node("RoiAlign", 3), 10, 16, None, ["coordinate_transformation_mode=output_half_pixel written"]),
    (node("GridSample", 2, mode="bicubic"), 16, 20, None, ["mode=cubic written"]),
    (node("GridSample", 2, mode="cubic"), 20, 16, (1, 2, 3, 4), ["mode=bicubic written"]),
    (node("DFT", axis=1), 17, 20, (1, 4, 2), ["axis dropped"]),
    (node("DFT"), 20, 17, (1, 4, 4, 2), ["axis=2 written"]),
    (node("Concat", 2, axis=-1), 13, 10, (2, 3), ["axis=1 written"]),
    (node("ReduceMax", axes=[0, -1]), 12, 10, (2, 3), ["axes=[0, 1] written"]),
    (node("Unsqueeze", axes=[0, -1]), 11, 9, (2, 3), ["axes=[0, 3] written"]),
]


@pytest.mark.parametrize(("n", "source", "target", "shape", "changes"), EDITED)
def test_moves_with_edits(n: NodeProto, source: int, target: int, shape: Any, changes: list[str]) -> None:
    assert verdict(n, source, target, shape=shape) == changes


REFUSED = [
    (node("LayerNormalization", 2), 17, 13, None, "opset 13 has no operator LayerNormalization (from opset 17)"),
    (node("GroupNormalization", 3, num_groups=2), 21, 18, None, "GroupNormalization is deprecated at opset 18 (from opset 21)"),
    (node("Unsqueeze", axes=[0]), 11, 13, None, "Unsqueeze takes axes as an input at opset 13, not as an attribute"),
    (node("Pad", pads=[0, 1]), 7, 11, None, "Pad takes pads as an input at opset 11, not as an attribute"),
    (node("TopK", 1, 2, k=3), 7, 11, None, "TopK takes k as an input at opset 11, not as an attribute"),
    (node("AveragePool", kernel_shape=[2], dilations=[2]), 19, 13, None, "AveragePool has no attribute dilations at opset 13"),
    (node("MaxPool", kernel_shape=[2], dilations=[2]), 10, 8, None, "MaxPool has no attribute dilations at opset 8"),
    (node("LpPool", kernel_shape=[2], dilations=[2]), 18, 11, None, "LpPool has no attribute dilations at opset 11"),
    (node("Cast", to=24), 24, 23, None, "Cast to float8e8m0 needs opset 24"),
    (node("Softmax"), 11, 13, None, "Softmax changed its meaning at opset 13"),
    (node("Softmax"), 11, 13, (2, 3, 4), "Softmax changed its meaning at opset 13"),
    (node("Softmax"), 13, 9, None, "Softmax changed its meaning at opset 13"),
    (node("Split", 1, 3, num_outputs=3), 18, 13, (7, 2), "Split changed its meaning at opset 18"),
    (node("Split", 1, 3, num_outputs=3), 18, 13, (None, 2), "Split changed its meaning at opset 18"),
    (node("RoiAlign", 3), 16, 10, None, "RoiAlign has no attribute coordinate_transformation_mode at opset 10"),
    (node("GridSample", 2), 20, 16, (1, 2, 3, 4, 5), "GridSample changed its meaning at opset 20"),
    (node("GroupNormalization", 3, num_groups=2), 18, 21, None, "GroupNormalization changed its meaning at opset 21"),
    (node("BatchNormalization", 5, 3, training_mode=1), 14, 9, None, "BatchNormalization has no attribute training_mode at opset 9"),
    (node("BatchNormalization", 5, 5), 9, 14, None, "BatchNormalization changed its meaning at opset 14"),
    (node("Resize", 2), 10, 11, None, "Resize changed its meaning at opset 11"),
    (node("Dropout", 1, 2), 13, 10, None, "Dropout changed its meaning at opset 12"),
    (node("Sum", 2), 8, 7, None, "Sum changed its meaning at opset 8"),
    (node("Scan", body=helper.make_graph([], "body", [], [])), 9, 8, None, "Scan changed its meaning at opset 9"),
    (node("DFT"), 17, 20, None, "DFT changed its meaning at opset 20"),
    (node("Mod", 2), 28, 13, None, "Mod with fmod=0 accepts floating-point numbers from opset 28"),
    (node("Pad", 3, mode="wrap"), 19, 18, None, "Pad knows no mode=wrap at opset 18 (from opset 19)"),
    (node("Resize", 4, keep_aspect_ratio_policy="not_larger"), 18, 13, None, "Resize has no attribute keep_aspect_ratio_policy"),
    (node("Resize", 4, coordinate_transformation_mode="half_pixel_symmetric"), 19, 18, None, "Resize knows no coordinate_trans"),
    (node("Resize", 4, coordinate_transformation_mode="tf_half_pixel_for_nn"), 11, 13, None, "Resize knows no coordinate_trans"),
    (node("ScatterElements", 3, reduction="min"), 18, 16, None, "ScatterElements knows no reduction=min at opset 16"),
    (node("ScatterND", 3, reduction="max"), 18, 16, None, "ScatterND knows no reduction=max at opset 16 (from opset 18)"),
    (node("Concat", 2, axis=-1), 11, 10, None, "Concat allows a negative axis from opset 11"),
    (node("Dropout"), 6, 13, None, "Dropout changed before opset 7, which is further back than qdqtool's tables go"),
    (node("Attention", 4), 24, 23, None, "Attention changed its meaning at opset 24"),
    (node("Attention", 6, 3, is_causal=1), 25, 24, None, "Attention changed its meaning at opset 25"),
]


@pytest.mark.parametrize(("n", "source", "target", "shape", "why"), REFUSED)
def test_refused(n: NodeProto, source: int, target: int, shape: Any, why: str) -> None:
    found = verdict(n, source, target, shape=shape)
    assert [r for r in found if r.startswith(why)], found


def test_an_input_becomes_an_attribute() -> None:
    assert verdict(node("Squeeze", 2), 13, 11, indexed) == ["Squeeze takes axes as an attribute at opset 11, not as an input"]
    assert verdict(node("Clip", 2), 11, 7) == ["Clip takes min as an attribute at opset 7, not as an input"]


def test_allowzero_is_harmless_beside_a_shape_without_zeros() -> None:
    reshape = node("Reshape", 2, allowzero=1)
    assert verdict(reshape, 21, 13, indexed, value=[2, -1]) == ["allowzero dropped"]
    assert verdict(reshape, 21, 13, indexed, value=[2, 0])[0].startswith("Reshape has no attribute allowzero")
    assert verdict(reshape, 21, 13, indexed)[0].startswith("Reshape has no attribute allowzero")


def test_a_mask_as_long_as_the_keys_needs_no_padding() -> None:
    shapes = {"x1": (1, 2, 5, 4), "x3": (3, 5)}
    found = judge(node("Attention", 4), 24, 23, floats, shape_of=shapes.get)
    assert found.reasons == ()


def test_equal_shapes_need_no_broadcasting() -> None:
    assert verdict(node("Max", 2), 8, 7, shape=("batch", 3)) == ["moves"]
    assert verdict(node("Max", 2), 8, 7, shape=(None, 3))[0].startswith("Max changed its meaning")


def test_unknown_types_pass_where_the_allowed_types_did_not_shrink() -> None:
    assert move(node("Conv", 2), 11, 22, lambda _: None) == []
    assert move(node("Conv", 2), 22, 11, lambda _: None) == [
        "the type of X is not known here, and Conv accepts no bfloat16 at opset 11",
    ]


def test_types_follow_from_one_another() -> None:
    assert move(node("Conv", 2), 22, 11, {"x1": t.FLOAT}.get) == []
    assert move(node("Conv", 2), 22, 11, {"x1": t.BFLOAT16}.get) == ["Conv accepts bfloat16 from opset 22"]


def test_types_that_must_be_equal_must_be_known() -> None:
    assert move(node("Pow", 2), 12, 7, {"x0": t.FLOAT, "x1": t.FLOAT}.get) == []
    assert move(node("Pow", 2), 12, 7, {"x0": t.FLOAT, "x1": t.INT64}.get)[0].startswith("Pow accepts int64 from opset 12")
    assert "Pow wants one type for X, Y and Z at opset 7, and not all of them are known here" in move(
        node("Pow", 2), 12, 7, {"x0": t.FLOAT}.get
    )


def test_what_was_wrong_before_is_no_reason() -> None:
    odd = helper.make_node("Add", ["a", "b"], ["c"], unheard_of=1)
    types = {"a": t.FLOAT, "b": t.FLOAT16, "c": t.FLOAT}
    assert move(odd, 14, 13, types.get, was=types.get) == []
    assert move(odd, 14, 13, types.get) == ["Add wants one type for A, B and C at opset 13, not float32 and float16"]


def test_types_that_the_plan_changed_are_judged_even_where_the_operator_did_not_change() -> None:
    relu, floating = node("Relu"), {"x0": t.FLOAT, "y0": t.FLOAT}
    assert move(relu, 13, 9, {"x0": t.INT8, "y0": t.INT8}.get, was=floating.get) == ["Relu accepts int8 from opset 14"]
    assert move(relu, 16, 15, {"x0": t.UINT8, "y0": t.UINT8}.get, was=floating.get) == ["Relu accepts no uint8"]
    assert move(relu, 16, 15, floating.get, was=floating.get) == []


def test_what_a_modulus_computes_depends_on_the_type() -> None:
    assert move(node("Mod", 2), 28, 13, lambda _: None)[0].startswith("Mod changed its meaning at opset 28")


def referring(n: NodeProto, attribute: str) -> NodeProto:
    kind = AttributeProto.STRING if attribute == "mode" else AttributeProto.INT
    n.attribute.append(AttributeProto(name=attribute, type=kind, ref_attr_name="outer"))
    return n


def test_attributes_given_by_a_functions_caller_are_not_known() -> None:
    assert move(referring(node("Flatten"), "axis"), 13, 11, floats) == []
    found = move(referring(node("AveragePool", kernel_shape=[2]), "ceil_mode"), 10, 7, floats)
    assert found[0].startswith("AveragePool has no attribute ceil_mode at opset 7")
    assert move(referring(node("Concat", 2), "axis"), 11, 9, floats)[0].startswith("Concat changed its meaning at opset 11")
    assert move(referring(node("Softmax"), "axis"), 11, 13, floats)[0].startswith("Softmax changed its meaning at opset 13")
    pad = referring(node("Pad", 2), "mode")
    assert move(pad, 19, 18, indexed) == ["not every mode of Pad exists at opset 18, and which one is meant is not known here"]
    assert move(pad, 18, 19, indexed) == []


def test_unknown_at_source() -> None:
    assert unknown_at_source(node("SimplifiedLayerNormalization", 2), 17)
    assert unknown_at_source(node("DequantizeLinear", 3), 4)
    assert not unknown_at_source(node("DequantizeLinear", 3), 10)
    assert not unknown_at_source(helper.make_node("Foo", [], [], domain="com.example"), 10)


def test_edits_are_carried_out_in_place() -> None:
    cast = node("Cast", to=1, saturate=0)
    carry_out(cast, edits(cast, 19, 13, floats))
    assert cast == node("Cast", to=1)
    softmax = node("Softmax", axis=-1)
    carry_out(softmax, [AttributeEdit("axis", 2), AttributeEdit("absent", None), AttributeEdit("mode", b"x")])
    assert softmax == node("Softmax", axis=2, mode="x")


def test_twenty_thousand_nodes_take_no_time() -> None:
    kinds = [
        *(node("Relu"), node("Conv", 3, pads=[0] * 4, strides=[1, 1]), node("MatMul", 2), node("Add", 2), node("Reshape", 2)),
        *(node("Transpose", perm=[0, 2, 1]), node("Cast", to=1), node("Concat", 2, axis=1), node("Softmax", axis=-1)),
    ]
    nodes = (kinds * 2300)[:20000]
    move(nodes[0], 21, 13, floats)
    start = time.process_time()
    for n in nodes:
        move(n, 21, 13, floats)
    assert time.process_time() - start < 0.4
