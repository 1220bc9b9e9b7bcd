"""Folds in bodies of control flow and in functions, and constants that several scopes share."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from qdqtool import dtypes as d
from qdqtool.model import tensors
from tests.passes.folded import codes, folded, kinds, model, node, ops, reals, scales

T = TensorProto
HELD = {"W": codes(d.INT8, 8, 4), "s": scales(4)}
COND = {"x": (T.FLOAT, [2, 8]), "c": (T.BOOL, [])}


def body(name: str, nodes: list[NodeProto], output: str = "o", held: dict[str, Any] | None = None) -> GraphProto:
    graph = GraphProto(name=name)
    graph.node.extend(nodes)
    graph.output.append(helper.make_tensor_value_info(output, T.FLOAT, None))
    graph.initializer.extend(tensors.make(key, np.asarray(value)) for key, value in (held or {}).items())
    return graph


def chosen(then: GraphProto, otherwise: GraphProto) -> NodeProto:
    return node("If", ["c"], "y", then_branch=then, else_branch=otherwise)


def branches(proto: ModelProto) -> list[GraphProto]:
    """Bodies by name, then_branch first."""
    found = [a for n in proto.graph.node for a in n.attribute if a.HasField("g")]
    return [a.g for a in sorted(found, key=lambda a: a.name, reverse=True)]


MATMUL = [node("DequantizeLinear", ["W", "s"], "o_w", axis=1), node("MatMul", ["x", "o_w"], "o")]
ZERO = [node("Constant", [], "n", value=tensors.make("n", np.zeros((2, 4), np.float32))), node("Identity", ["n"], "o")]


def test_a_constant_of_the_graph_read_in_a_body() -> None:
    folding = folded(model([chosen(body("a", MATMUL), body("b", ZERO))], HELD, COND, opset=13), weights=True)
    then, _ = branches(folding.model)
    assert [n.op_type for n in then.node] == ["MatMul"]
    assert [t.name for t in then.initializer] == ["o_w"]
    assert not folding.model.graph.initializer


def test_one_constant_for_two_bodies() -> None:
    folding = folded(model([chosen(body("a", MATMUL), body("b", MATMUL))], HELD, COND, opset=13), weights=True)
    assert [[n.op_type for n in g.node] for g in branches(folding.model)] == [["MatMul"], ["MatMul"]]
    (shared,) = folding.model.graph.initializer
    assert (shared.data_type, list(shared.dims)) == (T.FLOAT, [8, 4])
    assert not any(g.initializer for g in branches(folding.model))


def test_two_bodies_with_constants_of_their_own_under_one_name() -> None:
    other = {"W": codes(d.INT8, 8, 4), "s": scales(4)}
    nodes = [chosen(body("a", MATMUL, held=HELD), body("b", MATMUL, held=other))]
    folding = folded(model(nodes, {}, COND, opset=13), weights=True)
    assert [[t.name for t in g.initializer] for g in branches(folding.model)] == [["o_w"], ["o_w"]]


def test_the_result_of_a_body() -> None:
    giving = [node("DequantizeLinear", ["W", "s"], "o", axis=1)]
    nodes = [chosen(body("a", giving), body("b", [node("Constant", [], "o", value=tensors.make("o", reals(8, 4)))]))]
    folding = folded(model(nodes, HELD, {"c": (T.BOOL, [])}, opset=13), weights=True)
    then, _ = branches(folding.model)
    assert not then.node
    assert [t.name for t in then.initializer] == ["o"]


def test_a_pair_across_the_edge_of_a_body() -> None:
    """The codes are those of the graph around it."""
    inner = [node("QuantizeLinear", ["w", "k"], "q"), node("DequantizeLinear", ["q", "k"], "o")]
    nodes = [node("QuantizeLinear", ["x", "k"], "p"), node("DequantizeLinear", ["p", "k"], "w"), chosen(body("a", inner), body("b", ZERO))]
    folding = folded(model(nodes, {"k": np.float32(0.3)}, COND, opset=13))
    assert kinds(folding) == ["pairs"]
    assert ops(folding) == ["QuantizeLinear", "If"]
    assert [list(n.input) for n in branches(folding.model)[0].node] == [["p", "k"]]


def test_a_loop_body() -> None:
    nodes = [
        node("Identity", ["k"], "k_out"),
        node("QuantizeLinear", ["W", "s"], "q", axis=1),
        node("DequantizeLinear", ["q", "s"], "w", axis=1),
        node("Add", ["v", "w"], "v_out"),
    ]
    loop = GraphProto(name="loop")
    loop.node.extend(nodes)
    loop.input.extend([helper.make_tensor_value_info("i", T.INT64, []), helper.make_tensor_value_info("k", T.BOOL, [])])
    loop.input.append(helper.make_tensor_value_info("v", T.FLOAT, [8, 4]))
    loop.output.extend([helper.make_tensor_value_info("k_out", T.BOOL, []), helper.make_tensor_value_info("v_out", T.FLOAT, [8, 4])])
    held = {"W": reals(8, 4), "s": scales(4), "n": np.int64(3)}
    proto = model([node("Loop", ["n", "", "x"], "y", body=loop)], held, {"x": (T.FLOAT, [8, 4])}, opset=13)
    folding = folded(proto)
    assert [n.op_type for n in branches(folding.model)[0].node] == ["Identity", "DequantizeLinear", "Add"]


def function(nodes: list[NodeProto], *attributes: str, opset: int = 21) -> FunctionProto:
    return helper.make_function("local", "Linear", ["a"], ["b"], nodes, [helper.make_opsetid("", opset)], list(attributes))


def constant(name: str, values: Any) -> NodeProto:
    return node("Constant", [], name, value=tensors.make(name, np.asarray(values)))


INSIDE = [
    constant("W", HELD["W"]),
    constant("s", HELD["s"]),
    node("DequantizeLinear", ["W", "s"], "w", axis=1),
    node("MatMul", ["a", "w"], "b"),
]


def test_a_function_holds_constant_nodes() -> None:
    calls = [node("Linear", ["x"], "y", domain="local")]
    folding = folded(model(calls, {}, opset=21, functions=[function(INSIDE)], domains=["local"]), weights=True)
    inside = folding.model.functions[0].node
    assert [n.op_type for n in inside] == ["Constant", "MatMul"]
    assert list(inside[0].output) == ["w"]
    assert [o.version for o in folding.model.functions[0].opset_import] == [21]


def test_the_opset_of_a_function_is_its_own() -> None:
    calls = [node("Linear", ["x"], "y", domain="local")]
    folding = folded(model(calls, {}, opset=21, functions=[function(INSIDE, opset=13)], domains=["local"]), weights=True)
    assert [o.version for o in folding.model.functions[0].opset_import] == [13]


def test_an_axis_that_calls_give_differently_stays() -> None:
    step = NodeProto(op_type="DequantizeLinear", input=["W", "s"], output=["w"])
    step.attribute.add(name="axis", ref_attr_name="k", type=2)
    held = [constant("W", codes(d.INT8, 4, 4)), constant("s", scales(4)), step, node("MatMul", ["a", "w"], "b")]
    calls = [node("Linear", ["x"], "h", domain="local", k=0), node("Linear", ["h"], "y", domain="local", k=1)]
    inputs = {"x": (T.FLOAT, [2, 4])}
    proto = model(calls, {}, inputs, opset=21, functions=[function(held, "k")], domains=["local"])
    assert folded(proto, weights=True).folds == ()
    del proto.graph.node[1]
    proto.graph.node[0].output[0] = "y"
    assert kinds(folded(proto, weights=True)) == ["weights"]


def test_unsorted_nodes() -> None:
    nodes = [node("MatMul", ["x", "w"], "y"), node("DequantizeLinear", ["q", "s"], "w"), node("QuantizeLinear", ["W", "s"], "q")]
    folding = folded(model(nodes, {"W": reals(8, 4), "s": scales(4)}, opset=13))
    assert ops(folding) == ["MatMul", "DequantizeLinear"]


def test_results_of_two_bodies_under_one_name_that_are_too_large_to_compute_at_once() -> None:
    def giving(values: Any) -> GraphProto:
        return body("a", [node("DequantizeLinear", ["W", "s"], "o", axis=1)], held={"W": values, "s": scales(4)})

    large = [codes(d.INT8, 8192, 4) for _ in range(2)]
    folding = folded(model([chosen(giving(large[0]), giving(large[1]))], {}, {"c": (T.BOOL, [])}, opset=13), weights=True)
    assert [not g.node for g in branches(folding.model)] == [True, True]
