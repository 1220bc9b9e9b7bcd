"""Nodes that are no steps, said otherwise at the target: where they stand, what they are called, which constants come and go."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import ModelProto, NodeProto, helper

from qdqtool.errors import Refused
from qdqtool.exactness import Exactness
from tests.plan.graphs import CODES, INT4, TENTH, converted, initializers, model, ops

AXES = np.array([1], np.int64)
LAYER = "g (float[2,8] x) => (float[2,8] y) { y = LayerNormalization(x, s, b) }"
X = np.linspace(-3, 3, 16, dtype=np.float32).reshape(2, 8)


def run(proto: ModelProto, x: np.ndarray = X) -> list[np.ndarray]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return list(ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, {"x": x}))


def same(before: ModelProto, after: ModelProto) -> bool:
    onnx.checker.check_model(after, full_check=True)
    return all(a.tobytes() == b.tobytes() for a, b in zip(run(before), run(after), strict=True))


def attributes(node: NodeProto) -> dict[str, object]:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def test_an_input_becomes_an_attribute_and_its_constant_goes() -> None:
    proto = model("g (float[2,8] x) => (float[2,1,8] y) { y = Unsqueeze(x, axes) }", opset=13, axes=AXES)
    result = converted(proto, 11).model
    assert attributes(result.graph.node[0]) == {"axes": [1]}
    assert initializers(result) == {}
    assert same(proto, result)


def test_a_constant_that_others_read_stays() -> None:
    text = "g (float[2,8] x) => (y, z) { y = Unsqueeze(x, axes) z = Identity(axes) }"
    assert list(initializers(converted(model(text, opset=13, axes=AXES), 11).model)) == ["axes"]


def test_constant_nodes_that_served_it_alone_go() -> None:
    text = "g (float[2,8] x) => (y) { a = Constant <value_ints: ints = [1]> () c = Identity(a) y = Unsqueeze(x, c) }"
    assert ops(converted(model(text, opset=13), 11).model) == ["Unsqueeze"]


def test_equal_constants_are_one() -> None:
    text = "g (float[2,8] x) => (float[2,1,1,8] y) { a = Unsqueeze <axes: ints = [1]> (x) y = Unsqueeze <axes: ints = [1]> (a) }"
    proto = model(text, opset=11)
    result = converted(proto, 13).model
    assert len(initializers(result)) == 1
    assert same(proto, result)


def test_the_node_that_writes_the_result_inherits() -> None:
    proto = model("g (float[2,8] x) => (y) { y = Softmax <axis: int = 0> (x) }", opset=11)
    proto.graph.node[0].doc_string = "remark"
    proto.graph.node[0].metadata_props.add(key="k", value="v")
    *others, last = converted(proto, 13).model.graph.node
    assert (last.name, last.doc_string, last.metadata_props[0].value) == ("n0", "remark", "v")
    assert [(n.doc_string, len(n.metadata_props)) for n in others] == [("", 0)] * len(others)
    assert len({n.name for n in (*others, last)}) == len(others) + 1


def test_new_names_are_new_in_every_scope() -> None:
    text = """g (float[2,8] x, bool c) => (float[2,8] y, float[2,8] z) {
      y = Softmax <axis: int = 0> (x)
      z = If (c) <then_branch: graph = t () => (float[2,8] y_flat) { y_flat = Abs(x) },
                  else_branch: graph = e () => (float[2,8] y_flatten) { y_flatten = Neg(x) }>
    }"""
    result = converted(model(text, opset=11), 13).model
    assert {"y_flat", "y_flatten"} & {o for n in result.graph.node for o in n.output} == set()
    onnx.checker.check_model(result, full_check=True)


def test_in_a_branch() -> None:
    text = """g (float[2,8] x) => (float[1,8] y) {
      n = Size(x) c = Cast <to: int = 9> (n)
      y = If (c) <then_branch: graph = t () => (float[1,8] a) { a = ReduceSum <axes: ints = [0]> (x) },
                  else_branch: graph = e () => (float[1,8] b) { b = ReduceSum <axes: ints = [0]> (x) }>
    }"""
    proto = model(text, opset=11)
    result = converted(proto, 13).model
    assert len(initializers(result)) == 1
    assert same(proto, result)


def test_in_a_function() -> None:
    text = """g (float[2,8] x) => (float[1,2,8] y) { y = local.f(x) }
      <domain: "local", opset_import: ["": 11]> f (v) => (w) { w = Unsqueeze <axes: ints = [0]> (v) }"""
    proto = model(text, opset=11, domains={"local": 1})
    result = converted(proto, 13).model
    assert [n.op_type for n in result.functions[0].node] == ["Constant", "Unsqueeze"]
    assert result.functions[0].opset_import[0].version == 13
    assert same(proto, result)


def test_with_codes_that_travel_in_another_type() -> None:
    text = "g (float[2,8] x) => (float[2,2,8] y) { v = Unsqueeze(w, axes) d = DequantizeLinear(v, s) y = Add(x, d) }"
    proto = model(text, w=INT4, s=TENTH, axes=AXES)
    result = converted(proto, 11).model
    assert attributes(next(n for n in result.graph.node if n.op_type == "Unsqueeze")) == {"axes": [1]}
    expected = X + CODES[:, None].astype(np.float32) * TENTH
    assert np.array_equal(run(result)[0], expected)


def test_a_body_moves_with_the_node_that_holds_it() -> None:
    text = """g (float[2,8] x) => (y, z) {
      s = Constant <value: tensor = float[8] {0,0,0,0,0,0,0,0}> ()
      y, z = Scan <num_scan_inputs: int = 1, body: graph = b (float[8] u, float[8] v) => (float[8] w, float[8] r) {
        w = Add(u, v) axes = Constant <value: tensor = int64[1] {0}> () q = Unsqueeze(w, axes) r = Squeeze(q, axes)
      }> (s, x)
    }"""
    proto = model(text, opset=13)
    result = converted(proto, 8).model
    body = next(a.g for n in result.graph.node for a in n.attribute if a.name == "body")
    assert [n.op_type for n in body.node] == ["Add", "Unsqueeze", "Squeeze"]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(run(proto), run(result), strict=True))


def parameters() -> dict[str, np.ndarray]:
    return {"s": np.linspace(0.5, 2, 8, dtype=np.float32), "b": np.ones(8, np.float32)}


def test_a_change_tells_how_and_how_close() -> None:
    (change,) = converted(model(LAYER, opset=17, **parameters()), 13).changes
    assert change.where == "main / n0"
    assert change.what == "LayerNormalization of opset 17"
    assert change.how == ("layers",)
    assert change.exactness is Exactness.ROUNDING
    assert change.bound.of_maximum > 0
    assert change.nodes == (1, 9)


def test_rounding_is_refused_where_everything_must_be_exact() -> None:
    with pytest.raises(Refused) as caught:
        converted(model(LAYER, opset=17, **parameters()), 13, exact=True)
    (refusal,) = caught.value.reasons
    assert refusal.code == "operator"
    assert refusal.reasons == ("only an equal up to rounding form of LayerNormalization exists (layers)",)


def test_what_cannot_be_said_is_refused_with_the_node() -> None:
    with pytest.raises(Refused) as caught:
        converted(model("g (float[2,8] x, int64[1] a) => (y) { y = Unsqueeze(x, a) }", opset=13), 11)
    (refusal,) = caught.value.reasons
    assert refusal.at == "main / n0"
    assert refusal.reasons == ("Unsqueeze takes axes as an attribute up to opset 12, and here they are computed at run time",)


def test_the_check_compares_the_node_with_what_stands_for_it() -> None:
    report = converted(model(LAYER, opset=17, **parameters()), 13, check=True).check
    assert report is not None
    (step,) = [c for c in report.comparisons if c.where == "main / n0"]
    assert step.verdict in ("equal", "within bound")
    assert step.judge == "ONNX Runtime"
