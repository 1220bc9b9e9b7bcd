from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from tests.plan.graphs import INT4, INT8, TENTH, converted, initializers, model, ops

BLOCKS = np.ones((2, 2), np.float32)
DQ = "DequantizeLinear"


def imports(proto: ModelProto) -> dict[str, int]:
    return {o.domain: o.version for o in proto.opset_import}


def test_new_nodes_stand_where_the_old_one_stood() -> None:
    text = (
        "g (float[2,8] x) => (float[2,8] y) { a = Abs(x) w2 = DequantizeLinear <axis: int = 1, block_size: int = 4> (w, b) y = Add(a, w2) }"
    )
    result = converted(model(text, w=INT4, b=np.float32([[1, 2], [3, 4]])), 13).model
    assert ops(result) == ["Abs", DQ, "Reshape", "Add"]
    assert result.graph.node[2].output == ["w2"]
    onnx.checker.check_model(result, full_check=True)


def test_untouched_messages_stay_as_they_were() -> None:
    proto = model("g (float[2,8] x) => (y) { a = Abs(x) w2 = DequantizeLinear(w, s) y = Add(a, w2) }", w=INT4, s=TENTH)
    proto.doc_string, proto.graph.doc_string, proto.producer_name = "model", "graph", "me"
    proto.metadata_props.add(key="k", value="v")
    proto.graph.node[0].doc_string = "abs"
    proto.graph.initializer[1].doc_string = "scale"
    result = converted(proto, 13).model
    for field in ("doc_string", "producer_name", "metadata_props", "domain", "model_version"):
        assert getattr(result, field) == getattr(proto, field)
    assert [n for n in result.graph.node if n.op_type != DQ] == [n for n in proto.graph.node if n.op_type != DQ]
    assert [t for t in result.graph.initializer if t.name == "s"] == [proto.graph.initializer[1]]
    assert (result.graph.input, result.graph.output, result.graph.doc_string) == (proto.graph.input, proto.graph.output, "graph")


def test_shared_constants_stay_one_tensor() -> None:
    text = """g (float[2,8] x) => (y) {
      a = DequantizeLinear(w, s) b = DequantizeLinear(w, s) c = DequantizeLinear(w, t) d = Add(a, b) y = Add(c, d)
    }"""
    result = converted(model(text, w=INT4, s=TENTH, t=np.float32(0.5)), 13).model
    assert sorted(initializers(result)) == ["s", "t", "w_int8"]


def test_different_constants_stay_apart() -> None:
    text = "g (float[2,8] x) => (y) { a = DequantizeLinear(w, s) b = DequantizeLinear(v, s) y = Add(a, b) }"
    found = initializers(converted(model(text, w=INT4, v=INT4[::-1], s=TENTH), 13).model)
    assert sorted(found) == ["s", "v_int8", "w_int8"]
    assert found["w_int8"].tolist() == INT8.tolist()
    assert found["v_int8"].tolist() == INT8[::-1].tolist()


IF = """g (bool c, float[2,8] x) => (y) {
  y = If (c) <
    then_branch: graph = t () => (a) { p = DequantizeLinear(w, s) a = Add(p, x) },
    else_branch: graph = e () => (b) { q = DequantizeLinear(w, s) b = Sub(q, x) }>
}"""


def test_a_constant_lives_where_its_source_does() -> None:
    result = converted(model(IF, w=INT4, s=TENTH), 13).model
    assert sorted(initializers(result)) == ["s", "w_int8"]
    for attribute in result.graph.node[0].attribute:
        assert not attribute.g.initializer
        assert attribute.g.node[0].input[0] == "w_int8"


def test_a_constant_of_a_body_stays_in_the_body() -> None:
    text = """g (bool c, float[2] x) => (float[2] y) {
      y = If (c) <
        then_branch: graph = t () => (float[2] a) { k = Constant <value: tensor = int4[2] {1, 2}> () a = DequantizeLinear(k, s) },
        else_branch: graph = e () => (float[2] b) { b = Identity(x) }>
    }"""
    result = converted(model(text, s=TENTH), 13).model
    body = next(a.g for a in result.graph.node[0].attribute if a.name == "then_branch")
    assert [n.op_type for n in body.node] == [DQ]
    assert [t.name for t in body.initializer] == ["k_int8"]
    onnx.checker.check_model(result, full_check=True)


FUNCTION = """g (float[2] x) => (float[2] y) { y = local.scaled(x) }
<domain: "local", opset_import: ["": 21]>
scaled (x) => (b) {
  k = Constant <value: tensor = int4[2] {1, 2}> () s = Constant <value_float: float = 0.5> ()
  d = DequantizeLinear(k, s) b = Mul(d, x)
}"""


def test_a_function_holds_its_constants_in_nodes() -> None:
    result = converted(model(FUNCTION, domains={"local": 1}), 13).model
    (function,) = result.functions
    assert {o.domain: o.version for o in function.opset_import} == {"": 13}
    assert [n.op_type for n in function.node] == ["Constant", "Constant", DQ, "Mul"]
    assert imports(result) == {"": 13, "local": 1}
    onnx.checker.check_model(result, full_check=True)


def test_the_imports_of_every_holder_are_stamped() -> None:
    result = converted(model(FUNCTION, domains={"local": 1}), 23).model
    assert imports(result) == {"": 23, "local": 1}
    assert {o.domain: o.version for o in result.functions[0].opset_import} == {"": 23}


def test_doubled_imports_become_one() -> None:
    proto = model("g (float[2] x) => (y) { y = Abs(x) }")
    proto.opset_import.add(domain="ai.onnx", version=21)
    assert [(o.domain, o.version) for o in converted(proto, 13).model.opset_import] == [("", 13)]


def test_a_domain_that_only_replaced_nodes_used_is_forgotten() -> None:
    text = "g (float[2,8] x) => (y) { y = com.microsoft.DequantizeLinear(w, s) }"
    proto = model(text, domains={"com.microsoft": 1}, w=INT8, s=TENTH)
    assert imports(converted(proto, 21, to="ai.onnx").model) == {"": 21}
    assert imports(converted(proto, 13).model) == {"": 13, "com.microsoft": 1}


def test_a_domain_that_a_replacement_uses_is_imported() -> None:
    proto = model("g (float[2,8] x) => (y) { y = DequantizeLinear(w, s) }", w=INT8, s=TENTH)
    result = converted(proto, 21, to="com.microsoft").model
    assert imports(result) == {"": 21, "com.microsoft": 1}
    assert [(n.op_type, n.domain) for n in result.graph.node] == [(DQ, "com.microsoft")]


def test_large_constants_wait_until_they_are_saved() -> None:
    codes = np.zeros((256, 256), INT4.dtype)
    proto = model("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", w=codes, s=TENTH)
    conversion = converted(proto, 13)
    assert list(conversion.result.pending) == ["w_int8"]
    assert initializers(conversion.model)["w_int8"].shape == (256, 256)


@pytest.mark.parametrize("name", ["w_int8", "y_reshape", "n0_reshape"])
def test_names_taken_anywhere_are_not_used_again(name: str) -> None:
    text = f"""g (float[2,8] x, float[2,8] {name}) => (float[2,8] y, float[2,8] v) {{
      y = DequantizeLinear <axis: int = 1, block_size: int = 4> (w, b) v = Add(x, {name})
    }}"""
    result = converted(model(text, w=INT4, b=np.float32([[1, 2], [3, 4]])), 13).model
    onnx.checker.check_model(result, full_check=True)
    outputs = [o for n in result.graph.node for o in n.output] + list(initializers(result)) + [i.name for i in result.graph.input]
    assert len(outputs) == len(set(outputs))


def test_value_infos_of_values_that_are_gone_go_too() -> None:
    proto = model("g (float[2] x) => (y) { i = Identity(w) y = DequantizeLinear(i, s) }", w=INT4, s=TENTH)
    proto.graph.value_info.append(onnx.helper.make_tensor_value_info("i", 22, [2, 8]))
    assert not converted(proto, 13).model.graph.value_info
