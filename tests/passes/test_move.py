"""``move``: what only moves elements of a dequantized constant is done on its codes, scales and axis moved along."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

from qdqtool import dtypes as d
from tests.passes.folded import codes, constants, folded, kinds, model, node, ops, scales

T = TensorProto
ROWS = {"W": codes(d.INT8, 8, 4), "s": scales(8), "z": codes(d.INT8, 8)}
COLUMNS = {"W": codes(d.INT8, 8, 4), "s": scales(4), "z": codes(d.INT8, 4)}
BLOCKS = {"W": codes(d.INT4, 8, 4), "s": scales(4, 4), "z": codes(d.INT4, 4, 4)}
TENSOR = {"W": codes(d.UINT8, 8, 4), "s": np.float32(0.3), "z": np.uint8(7)}


def ints(*values: int) -> Any:
    return np.int64(values)


def moved(held: dict[str, Any], mover: NodeProto, *, opset: int = 21, **more: Any) -> ModelProto:
    """y = mover(DQ(W)), with further constants."""
    shape = held["s"].shape
    where: dict[str, int] = {}
    if len(shape) == 1:
        where = {"axis": 0 if shape[0] == 8 else 1}
    elif shape:
        where = {"axis": 0, "block_size": 2}
    nodes = [node("DequantizeLinear", ["W", "s", "z"], "w", name="dq", **where), mover]
    return model(nodes, held | more, {}, opset=opset)


def axis_of(proto: ModelProto) -> tuple[int | None, int | None]:
    """Axis and block of the one dequantize node."""
    (made,) = proto.graph.node
    found = {a.name: helper.get_attribute_value(a) for a in made.attribute}
    return found.get("axis"), found.get("block_size")


TRANSPOSE = node("Transpose", ["w"], "y", name="mover")
CLEAN = {
    "transpose of a tensor": (moved(TENSOR, TRANSPOSE, opset=10), (None, None)),
    "transpose of rows": (moved(ROWS, TRANSPOSE, opset=13), (1, None)),
    "transpose of blocks": (moved(BLOCKS, TRANSPOSE), (1, 2)),
    "reshape of a tensor": (moved(TENSOR, node("Reshape", ["w", "a"], "y"), a=ints(2, -1, 4)), (None, None)),
    "reshape of rows": (moved(ROWS, node("Reshape", ["w", "a"], "y"), a=ints(0, 2, 2)), (0, None)),
    "reshape of rows behind an axis": (moved(ROWS, node("Reshape", ["w", "a"], "y"), a=ints(1, 8, 4)), (1, None)),
    "reshape of rows to blocks": (moved(ROWS, node("Reshape", ["w", "a"], "y"), a=ints(4, 8)), (1, 4)),
    "reshape of columns": (moved(COLUMNS, node("Reshape", ["w", "a"], "y"), a=ints(4, 2, 4)), (2, None)),
    "reshape of blocks": (moved(BLOCKS, node("Reshape", ["w", "a"], "y"), a=ints(1, 8, 4)), (1, 2)),
    "flatten": (moved(COLUMNS, node("Flatten", ["w"], "y", axis=1)), (1, None)),
    "unsqueeze": (moved(ROWS, node("Unsqueeze", ["w", "a"], "y"), a=ints(0, -1)), (1, None)),
    "unsqueeze of blocks": (moved(BLOCKS, node("Unsqueeze", ["w", "a"], "y"), a=ints(0)), (1, 2)),
    "unsqueeze of opset 11": (
        moved(ROWS | {"s": np.float32(1), "z": np.int8(1)}, node("Unsqueeze", ["w"], "y", axes=[1]), opset=11),
        (None, None),
    ),
    "gather of rows": (moved(ROWS, node("Gather", ["w", "a"], "y"), a=ints(3, -1, 0)), (0, None)),
    "gather of one row": (moved(ROWS, node("Gather", ["w", "a"], "y"), a=np.int64(2)), (None, None)),
    "gather across rows": (moved(ROWS, node("Gather", ["w", "a"], "y", axis=1), a=np.int64([[0, 1], [3, 3]])), (0, None)),
    "gather before columns": (moved(COLUMNS, node("Gather", ["w", "a"], "y"), a=np.int64([[0, 1], [3, 3]])), (2, None)),
    "gather across blocks": (moved(BLOCKS, node("Gather", ["w", "a"], "y", axis=1), a=ints(1, 1, 0)), (0, 2)),
    "slice of rows": (moved(ROWS, node("Slice", ["w", "a", "b", "c", "e"], "y"), a=ints(7), b=ints(0), c=ints(0), e=ints(-2)), (0, None)),
    "slice of rows, from far in front": (
        moved(ROWS, node("Slice", ["w", "a", "b", "c", "e"], "y"), a=ints(-99), b=ints(-99), c=ints(0), e=ints(-1)),
        (None, None),
    ),
    "slice of whole blocks": (moved(BLOCKS, node("Slice", ["w", "a", "b"], "y"), a=ints(2, 1), b=ints(6, 3)), (0, 2)),
    "slice that cuts the last block": (moved(BLOCKS, node("Slice", ["w", "a", "b"], "y"), a=ints(2), b=ints(5)), (0, 2)),
    "identity": (moved(ROWS, node("Identity", ["w"], "y")), (0, None)),
}
BROKEN = {
    "reshape across rows without blocks": moved(ROWS, node("Reshape", ["w", "a"], "y"), opset=19, a=ints(4, 8)),
    "reshape of columns": moved(COLUMNS, node("Reshape", ["w", "a"], "y"), a=ints(32)),
    "gather of rows in two dimensions": moved(ROWS, node("Gather", ["w", "a"], "y"), a=np.int64([[3], [1]])),
    "gather of blocks": moved(BLOCKS, node("Gather", ["w", "a"], "y"), a=ints(3, 1)),
    "slice inside a block": moved(BLOCKS, node("Slice", ["w", "a", "b"], "y"), a=ints(1), b=ints(5)),
    "slice of every other": moved(BLOCKS, node("Slice", ["w", "a", "b", "c", "e"], "y"), a=ints(0), b=ints(8), c=ints(0), e=ints(2)),
}


@pytest.mark.parametrize("name", CLEAN)
def test_nothing_moves_unasked(name: str) -> None:
    assert folded(CLEAN[name][0]).folds == ()


@pytest.mark.parametrize("name", BROKEN)
def test_what_tears_scales_apart_stays(name: str) -> None:
    assert folded(BROKEN[name], move=True).folds == ()


@pytest.mark.parametrize("name", CLEAN)
def test_what_scales_can_follow_moves(name: str) -> None:
    proto, where = CLEAN[name]
    folding = folded(proto, move=True)
    assert (ops(folding), kinds(folding)) == (["DequantizeLinear"], ["move"])
    assert axis_of(folding.model) == where
    assert folding.folds[0].nodes == (2, 1)


@pytest.mark.parametrize("name", CLEAN)
def test_with_weights_values_move(name: str) -> None:
    folding = folded(CLEAN[name][0], move=True, weights=True)
    assert (ops(folding), kinds(folding)) == ([], ["weights"])


def joined(first: dict[str, Any], second: dict[str, Any], axis: int, where: tuple[dict[str, int], dict[str, int]]) -> ModelProto:
    held = {f"{k}1": v for k, v in first.items()} | {f"{k}2": v for k, v in second.items()}
    nodes = [node("DequantizeLinear", [f"{k}{i}" for k in made], f"w{i}", **where[i - 1]) for i, made in ((1, first), (2, second))]
    return model([*nodes, node("Concat", ["w1", "w2"], "y", axis=axis)], held, {}, opset=21)


ROW, COLUMN, BLOCK = {"axis": 0}, {"axis": 1}, {"axis": 0, "block_size": 2}
SIGNED = {"W": codes(d.INT8, 8, 4), "s": np.float32(0.2), "z": np.int8(-3)}
NO_ZERO = {"W": codes(d.UINT8, 8, 4), "s": np.float32(0.4)}
SHORT = {"W": codes(d.INT4, 3, 4), "s": scales(2, 4), "z": codes(d.INT4, 2, 4)}
JOINED = {
    "rows": (joined(ROWS, ROWS | {"W": codes(d.INT8, 8, 4)}, 0, (ROW, ROW)), (0, None)),
    "equal rows side by side": (joined(ROWS, ROWS, 1, (ROW, ROW)), (0, None)),
    "tensors with one scale": (joined(TENSOR, TENSOR | {"W": codes(d.UINT8, 8, 4)}, 0, ({}, {})), (None, None)),
    "tensors with scales of their own": (joined(TENSOR, TENSOR | {"s": np.float32(0.9)}, 1, ({}, {})), (1, None)),
    "one without zero point": (joined(TENSOR, NO_ZERO, -1, ({}, {})), (1, None)),
    "a tensor and rows": (joined(SIGNED, ROWS, 0, ({}, ROW)), (0, None)),
    "blocks end to end": (joined(BLOCKS, SHORT, 0, (BLOCK, BLOCK)), (0, 2)),
    "blocks side by side": (joined(BLOCKS, BLOCKS, 1, (BLOCK, BLOCK)), (0, 2)),
}
UNJOINED = {
    "rows of other scales side by side": joined(ROWS, ROWS | {"s": scales(8)}, 1, (ROW, ROW)),
    "rows and columns": joined(ROWS, COLUMNS, 0, (ROW, COLUMN)),
    "types": joined(TENSOR, {"W": codes(d.INT8, 8, 4), "s": np.float32(0.4)}, 0, ({}, {})),
    "blocks behind a cut one": joined(SHORT, BLOCKS, 0, (BLOCK, BLOCK)),
}


@pytest.mark.parametrize("name", JOINED)
def test_dequantized_constants_are_joined(name: str) -> None:
    proto, where = JOINED[name]
    folding = folded(proto, move=True)
    assert (ops(folding), axis_of(folding.model)) == (["DequantizeLinear"], where)


@pytest.mark.parametrize("name", UNJOINED)
def test_what_has_no_common_scale_is_not(name: str) -> None:
    assert folded(UNJOINED[name], move=True).folds == ()


def test_a_chain_of_movers_is_one() -> None:
    nodes = [
        node("DequantizeLinear", ["W", "s", "z"], "w", axis=0),
        node("Transpose", ["w"], "t"),
        node("Unsqueeze", ["t", "a"], "u"),
        node("Slice", ["u", "b", "c", "a"], "v"),
        node("Identity", ["v"], "y"),
    ]
    folding = folded(model(nodes, ROWS | {"a": ints(0), "b": ints(0), "c": ints(1)}, {}, opset=13), move=True)
    assert (ops(folding), axis_of(folding.model)) == (["DequantizeLinear"], (2, None))
    assert folding.folds[0].nodes == (5, 1)


def test_codes_stay_when_their_values_are_read_unmoved_too() -> None:
    nodes = [node("DequantizeLinear", ["W", "s", "z"], "w", axis=0), node("Transpose", ["w"], "t"), node("MatMul", ["t", "w"], "y")]
    assert folded(model(nodes, ROWS, {}, opset=13), move=True).folds == ()


def test_codes_move_too() -> None:
    nodes = [node("Transpose", ["W"], "t"), node("DequantizeLinear", ["t", "s"], "y")]
    folding = folded(model(nodes, {"W": codes(d.INT8, 8, 4), "s": scales(8)}, {}, opset=13), move=True)
    assert (ops(folding), kinds(folding)) == (["DequantizeLinear"], ["move"])
    assert constants(folding)["t"] == ("int8", (4, 8))


def test_com_microsoft_stays_com_microsoft() -> None:
    nodes = [node("DequantizeLinear", ["W", "s", "z"], "w", domain="com.microsoft", axis=0), node("Transpose", ["w"], "y")]
    folding = folded(model(nodes, ROWS, {}, opset=21, domains=["com.microsoft"]), move=True)
    assert [n.domain for n in folding.model.graph.node] == ["com.microsoft"]


def test_one_scale_that_is_left_is_that_of_a_tensor() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], "w", axis=0, block_size=2), node("Slice", ["w", "a", "b"], "y")]
    held = {"W": codes(d.INT8, 4), "s": scales(2), "a": ints(2), "b": ints(4)}
    folding = folded(model(nodes, held, {}, opset=21), move=True)
    assert (ops(folding), axis_of(folding.model)) == (["DequantizeLinear"], (None, None))
