from __future__ import annotations

import pytest
from onnx import NodeProto

from qdqtool import dtypes
from qdqtool.expressions import Computed, Const, Expr, Op, Runtime, Step, Stored, binary, literal
from qdqtool.model.names import Names
from qdqtool.plan.emit import Emitter, constant_name
from qdqtool.quantization import Meaning, PerTensor

F32 = dtypes.FLOAT
X = Runtime("x", F32, (2,))
W = Stored((), "w", dtypes.INT4, (2,))


def written(*outputs: tuple[str, Expr], original: NodeProto | None = None, taken: tuple[str, ...] = ()) -> list[NodeProto]:
    names = Names(["x", "w", *taken])
    original = original or NodeProto(op_type="DequantizeLinear", name="dq", output=[name for name, _ in outputs])
    emitter = Emitter(names, lambda const, output: names.fresh(constant_name(const, output)), original)
    for name, expr in outputs:
        emitter.write(expr, name)
    return emitter.nodes


def op(kind: str, *inputs: Expr | None) -> Op:
    return Op(kind, inputs, (), F32, (2,))


def text(nodes: list[NodeProto]) -> list[str]:
    return [f"{n.name}: {','.join(n.output)} = {n.op_type}({','.join(n.input)})" for n in nodes]


def test_the_last_node_writes_the_old_output_under_the_old_name() -> None:
    assert text(written(("y", op("Neg", op("Abs", X))))) == ["dq_abs: y_abs = Abs(x)", "dq: y = Neg(y_abs)"]


def test_name_doc_string_and_metadata_are_inherited() -> None:
    original = NodeProto(op_type="QuantizeLinear", name="q", doc_string="why", output=["y"])
    original.metadata_props.add(key="a", value="b")
    first, last = written(("y", op("Neg", op("Abs", X))), original=original)
    assert (last.name, last.doc_string, last.metadata_props[0].value) == ("q", "why", "b")
    assert (first.doc_string, len(first.metadata_props)) == ("", 0)


def test_a_node_without_a_name_gets_none() -> None:
    nodes = written(("y", op("Neg", op("Abs", X))), original=NodeProto(op_type="Q", output=["y"]))
    assert [n.name for n in nodes] == ["", ""]


def test_equal_operators_are_one_node() -> None:
    same = op("Abs", X)
    assert text(written(("y", binary("Mul", same, op("Abs", X))))) == ["dq_abs: y_abs = Abs(x)", "dq: y = Mul(y_abs,y_abs)"]


def test_several_outputs_share_their_nodes() -> None:
    scale = op("Abs", X)
    assert text(written(("a", binary("Mul", X, scale)), ("b", scale))) == [
        "dq_abs: a_abs = Abs(x)",
        "dq: a = Mul(x,a_abs)",
        ": b = Identity(a_abs)",
    ]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [(X, "dq: y = Identity(x)"), (W, "dq: y = Identity(w_2)"), (literal(1.0, F32), "dq: y = Identity(y_float32)")],
)
def test_what_is_no_operator_is_passed_on(expr: Expr, expected: str) -> None:
    assert text(written(("y", expr))) == [expected]


def test_an_absent_operand_is_an_empty_name() -> None:
    assert text(written(("y", op("Clip", X, None, literal(6.0, F32))))) == ["dq: y = Clip(x,,y_float32)"]


def test_names_already_there_are_left_alone() -> None:
    nodes = written(("y", op("Neg", op("Abs", X))), taken=("y_abs", "y_abs_2", "dq_abs"))
    assert text(nodes) == ["dq_abs_2: y_abs_3 = Abs(x)", "dq: y = Neg(y_abs_3)"]


def test_attributes_keep_their_kinds() -> None:
    (node,) = written(("y", Op("Foo", (X,), (("f", 0.5), ("i", 3), ("ints", (1, 2)), ("floats", (0.5,)), ("s", "up")), F32, (2,))))
    assert {a.name: a.type for a in node.attribute} == {"f": 1, "i": 2, "ints": 7, "floats": 6, "s": 3}


def test_a_step_cannot_be_written() -> None:
    step = Step(Meaning("dequantize", dtypes.INT8, F32, F32, PerTensor()), W, W, None, F32, (2,))
    with pytest.raises(TypeError, match="Step is not legalized"):
        written(("y", op("Abs", step)))


@pytest.mark.parametrize(
    ("const", "expected"),
    [
        (W, "w"),
        (literal(1.0, F32), "y_float32"),
        (literal([1], dtypes.INT64), "y_const"),
        (Computed("cast", (W,), (dtypes.INT8,), dtypes.INT8, (2,)), "w_int8"),
        (Computed("regroup", (Computed("cast", (W,), (dtypes.INT8,), dtypes.INT8, (2,)),), (), dtypes.INT8, (2,)), "w_int8_regroup"),
        (Computed("subtract", (W, literal(1, dtypes.INT4)), (None,), dtypes.INT32, (2,)), "w_subtract"),
    ],
)
def test_names_of_constants(const: Const, expected: str) -> None:
    assert constant_name(const, "y") == expected
