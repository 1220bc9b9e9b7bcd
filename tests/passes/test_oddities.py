"""Models that are sound but odd: nothing in them, one name for two things, scales that are no numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper
from onnx.external_data_helper import set_external_data

from qdqtool import api
from qdqtool import dtypes as d
from qdqtool.model import tensors
from qdqtool.model.graph import Scope, View
from tests.passes.folded import codes, folded, kinds, model, node, ops, reals, scales
from tests.passes.test_scopes import COND, body, chosen

T = TensorProto
STEP: Any = np.float32(0.1)
CONCAT = node("Concat", ["x", "w"], "y", axis=0)
EMPTY: dict[str, tuple[Any, dict[str, int]]] = {
    "per tensor": ({"W": codes(d.INT8, 0, 8), "s": STEP}, {}),
    "per axis": ({"W": codes(d.INT8, 0, 8), "s": scales(8)}, {"axis": 1}),
    "no scale at all": ({"W": codes(d.INT8, 0, 8), "s": scales(0)}, {"axis": 0}),
    "blocks": ({"W": codes(d.INT4, 0, 8), "s": scales(0, 2)}, {"axis": 1, "block_size": 4}),
}


@pytest.mark.parametrize("name", EMPTY)
def test_constants_without_elements(name: str) -> None:
    held, where = EMPTY[name]
    assert ops(folded(model([node("DequantizeLinear", ["W", "s"], "w", **where), CONCAT], held, opset=21), weights=True)) == ["Concat"]


def test_quantizing_nothing() -> None:
    nodes = [node("QuantizeLinear", ["W", "s"], "q"), node("DequantizeLinear", ["q", "s"], "w"), CONCAT]
    assert ops(folded(model(nodes, {"W": reals(0, 8), "s": STEP}, opset=13), weights=True)) == ["Concat"]


@pytest.mark.parametrize("scale", [np.nan, np.inf, -np.inf, 0.0, -0.0, -0.5, 1e-45, 3e38])
@pytest.mark.parametrize("shape", [(), (8,)])
def test_scales_that_are_odd(scale: float, shape: tuple[int, ...]) -> None:
    held = {"W": reals(2, 8), "s": np.full(shape, scale, np.float32), "z": np.full(shape, 7, np.int8)}
    steps = [node("QuantizeLinear", ["W", "s", "z"], "q"), node("DequantizeLinear", ["q", "s", "z"], "w"), node("Add", ["x", "w"], "y")]
    assert ops(folded(model(steps, held, opset=13), weights=True)) == ["Add"]
    names = ["x", "q", "w", "r", "y"]
    there = ["QuantizeLinear", "DequantizeLinear"] * 2
    pairs = [node(op, [above, "s", "z"], below) for op, above, below in zip(there, names, names[1:], strict=False)]
    kept = folded(model(pairs, {"s": held["s"], "z": held["z"]}, opset=13))
    assert kinds(kept) == (["pairs"] if scale == -0.5 else [])


def added(*nodes: NodeProto, **held: Any) -> GraphProto:
    return body("a", list(nodes), held=held)


def around(inner: GraphProto, *nodes: NodeProto, **held: Any) -> ModelProto:
    """Nodes that make `w`, which both branches read."""
    otherwise = body("b", [node("Identity", ["w"], "o")])
    return model([*nodes, chosen(inner, otherwise)], held | {"s": STEP}, COND, opset=13)


def looped() -> ModelProto:
    """A loop whose state is called as a value outside is."""
    graph = added(node("Identity", ["more"], "again"), node("Add", ["v", "w"], "o"))
    ports = {"i": (T.INT64, []), "more": (T.BOOL, []), "v": (T.FLOAT, [2, 8])}
    graph.input.extend(helper.make_tensor_value_info(name, *port) for name, port in ports.items())
    graph.output.insert(0, helper.make_tensor_value_info("again", T.BOOL, []))
    steps = [node("DequantizeLinear", ["W", "s"], name) for name in "vw"]
    nodes = [*steps, node("Add", ["x", "v"], "u"), node("Loop", ["n", "", "u"], "y", body=graph)]
    return model(nodes, {"W": codes(d.INT8, 2, 8), "s": STEP, "n": np.array(3, np.int64)}, opset=13)


BACK = [node("QuantizeLinear", ["w", "s"], "q2"), node("DequantizeLinear", ["q2", "s"], "r")]
SHADOWED = {
    "a state of a loop": looped(),
    "a constant of a body": around(
        added(node("Add", ["x", "w"], "o1"), node("Add", ["o1", "v"], "o"), v=reals(2, 8)),
        *(node("DequantizeLinear", ["W", "s"], name) for name in "vw"),
        node("Relu", ["v"], "u"),
        W=codes(d.INT8, 2, 8),
    ),
    "codes of a run": around(
        added(*BACK, node("Cast", ["q"], "f", to=T.FLOAT), node("Add", ["r", "f"], "o"), q=codes(d.UINT8, 2, 8)),
        node("QuantizeLinear", ["x", "s"], "q"),
        node("DequantizeLinear", ["q", "s"], "w"),
    ),
    "codes of a constant": around(
        added(*BACK, node("DequantizeLinear", ["W", "s"], "t"), node("Add", ["r", "t"], "o"), W=codes(d.UINT8, 2, 8)),
        node("DequantizeLinear", ["W", "s"], "w"),
        W=codes(d.UINT8, 2, 8),
    ),
}


@pytest.mark.parametrize("name", SHADOWED)
@pytest.mark.parametrize("weights", [False, True])
def test_a_name_that_means_something_else_in_a_body(name: str, weights: bool) -> None:
    folding = folded(SHADOWED[name], weights=weights)
    assert weights <= bool(folding.folds) or name == "codes of a run"


def test_a_tensor_elsewhere_called_as_a_new_constant(tmp_path: Path) -> None:
    """The tensor of an attribute may have any name; its data lies in a file."""
    held = reals(200, 200)
    tensor = TensorProto(name="w", data_type=T.FLOAT, dims=held.shape, raw_data=b"")
    set_external_data(tensor, "in.data", 0, held.nbytes)
    tensor.ClearField("raw_data")
    (tmp_path / "in.data").write_bytes(held.tobytes())
    nodes = [node("Constant", [], "K", value=tensor), node("DequantizeLinear", ["W", "s"], "w")]
    nodes += [node("MatMul", ["x", "w"], "u"), node("MatMul", ["u", "K"], "y")]
    proto = model(nodes, {"W": codes(d.INT8, 200, 200), "s": STEP}, {"x": (T.FLOAT, [2, 200])}, opset=13)
    folding = api.fold(proto, base_dir=tmp_path, weights=True, check=False)
    assert folding.model.graph.node[0] == proto.graph.node[0]
    folding.save(tmp_path / "out.onnx")
    kept = onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.node[0].attribute[0].t
    assert (tensors.array(kept, tmp_path) == held).all()


def test_the_work_for_a_long_chain_of_pairs_is_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, find = [0], View.find

    def counted(view: View, scope: Scope, name: str) -> Any:
        asked[0] += 1
        return find(view, scope, name)

    monkeypatch.setattr(View, "find", counted)
    counts = []
    for length in (50, 100):
        asked[0] = 0
        names = ["x", *(f"v{i}" for i in range(2 * length - 1)), "y"]
        there = ["QuantizeLinear", "DequantizeLinear"] * length
        nodes = [node(op, [above, "s"], below) for op, above, below in zip(there, names, names[1:], strict=False)]
        assert ops(api.fold(model(nodes, {"s": STEP}, opset=13), check=False)) == there[:2]
        counts.append(asked[0])
    assert counts[1] <= 2.1 * counts[0]
