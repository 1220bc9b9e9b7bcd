from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from qdqtool import dtypes
from qdqtool.model.graph import View
from qdqtool.plan.types import Type, Types, declared
from tests.plan.graphs import INT4, INT8, TENTH, main_of, model

FUNCTION = """
<domain: "local", opset_import: ["": 21]>
half (a, s) => (b) { q = QuantizeLinear(a, s) b = DequantizeLinear(q, s) }"""


def types(text: str, **constants: object) -> tuple[Types, View]:
    view = View(model(text, domains={"local": 1, "com.microsoft": 1}, **constants))
    return Types(view), view


def told(text: str, name: str, **constants: object) -> str:
    found, view = types(text, **constants)
    known = found.at(main_of(view), name)
    return f"{known.dtype}{'' if known.shape is None else list(known.shape)}"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("g (float[2,N] x) => (y) { y = Abs(x) }", "x", "float32[2, None]"),
        ("g (float[2,N] x) => (y) { y = Abs(x) }", "y", "float32[2, None]"),
        ("g (x) => (y) { y = Abs(x) }", "y", "None"),
        ("g (float x) => (y) { y = Abs(x) }", "y", "float32[]"),
        ("g (float[2] x) => (y) { q = DequantizeLinear(w, s) y = Add(q, q) }", "q", "float32[2, 8]"),
        ("g (float[2] x) => (y) { c = Constant <value: tensor = int8[1] {3}> () y = Identity(c) }", "c", "int8[1]"),
        ("g (float[2] x) => (y) { c = Constant <value_ints: ints = [1, 2]> () y = Identity(c) }", "c", "int64[2]"),
        ("g (float[2,8] x) => (y) { y = com.microsoft.QuantizeLinear(x, s, z) }", "y", "int8[2, 8]"),
        ("g (float[2,8] x) => (y) { y = com.microsoft.QuantizeLinear(x, s) }", "y", "uint8[2, 8]"),
        ("g (float[2,8] x) => (y) { q = com.microsoft.DequantizeLinear(w, s) y = Abs(q) }", "y", "float32[2, 8]"),
        ("g (float[2] x) => (y) { y = Abs(v) v = Abs(x) }", "y", "float32[2]"),
    ],
)
def test_what_is_known(text: str, name: str, expected: str) -> None:
    assert told(text, name, w=INT4, s=TENTH, z=np.int8(1)) == expected


def test_a_body_knows_the_values_around_it() -> None:
    branches = "then_branch: graph = t () => (a) { a = Abs(x) }, else_branch: graph = e () => (b) { b = Neg(x) }"
    found, view = types(f"g (bool c, float16[3] x) => (y) {{ y = If (c) <{branches}> }}")
    below = next(s for path, s in view.scopes.items() if path and path[-1] == "then_branch")
    assert str(found.at(below, "a").dtype) == "float16"
    assert str(found.at(below, "x").dtype) == "float16"


def test_a_function_is_typed_by_its_call() -> None:
    found, view = types(f"g (float[4] x) => (y) {{ y = local.half(x, s) }}{FUNCTION}", s=TENTH)
    body = next(s for s in view.scopes.values() if s.is_function)
    assert (str(found.at(body, "q").dtype), found.at(body, "q").shape) == ("uint8", (4,))
    assert str(found.at(body, "b").dtype) == "float32"
    assert not found.conflicts


def test_calls_that_disagree_are_told() -> None:
    text = f"g (float[4] x, float[5] v) => (y, w) {{ y = local.half(x, s) w = local.half(v, s) }}{FUNCTION}"
    found, view = types(text, s=TENTH)
    body = next(s for s in view.scopes.values() if s.is_function)
    assert set(found.conflicts) == {body.path}


def test_attributes_a_call_gives_reach_the_body() -> None:
    function = '\n<domain: "local", opset_import: ["": 21]>\npick <axis> (a, s) => (b) { b = DequantizeLinear <axis: int = @axis> (a, s) }'
    found, view = types(f"g (float[4] x) => (y) {{ y = local.pick <axis = 1> (w, s) }}{function}", w=INT8, s=np.ones(8, np.float32))
    body = next(s for s in view.scopes.values() if s.is_function)
    assert found.bindings[body.path]["axis"].i == 1


def test_what_no_tensor_is() -> None:
    view = View(model("g (seq(float[2]) x) => (y) { y = SequenceLength(x) }"))
    assert declared(view.proto.graph.input[0]).other
    assert Types(view).at(main_of(view), "x").other


def test_sparse_initializers_have_types() -> None:
    proto = model("g (float[4] x) => (y) { y = Add(x, s) }")
    proto.graph.sparse_initializer.add(
        values=helper.make_tensor("s", TensorProto.FLOAT, [1], [2.0]),
        indices=helper.make_tensor("at", TensorProto.INT64, [1], [1]),
        dims=[4],
    )
    view = View(proto)
    assert Types(view).at(main_of(view), "s") == Type(dtypes.FLOAT, (4,))


def test_functions_that_call_themselves_have_unknown_types() -> None:
    text = 'g (float[4] x) => (y) { y = f.F(x) }\n<domain: "f", opset_import: ["f": 1]>\nF (a) => (b) { b = f.F(a) }'
    view = View(model(text, domains={"f": 1}))
    assert Types(view).at(main_of(view), "y").dtype is None
