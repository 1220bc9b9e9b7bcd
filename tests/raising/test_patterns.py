"""Which patterns are raised, and what breaks a pattern: small graphs written out, noop first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import qdqtool
from qdqtool.exactness import Exactness
from tests.judge import Subject, judge

F, I8, U8, I32 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32
RNG = np.random.default_rng(5)
Nodes = Sequence[NodeProto]
W8 = RNG.integers(-128, 128, (4, 6)).astype(np.int8)
W4 = np.arange(-8, 16).clip(-8, 7).reshape(4, 6).astype(np.int8)
GROUPS = RNG.integers(0, 16, (4, 3, 8)).astype(np.uint8)
S = RNG.uniform(0.01, 1, (4, 1)).astype(np.float32)
SG = RNG.uniform(0.01, 1, (4, 3, 1)).astype(np.float32)


def n(op: str, inputs: str, output: str = "y", **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs.split(), [output], **attributes)


def graph(
    nodes: Nodes, opset: int, out: Sequence[int | str | None], outputs: Sequence[str] = ("y",), x: Any = None, **data: Any
) -> ModelProto:
    """A graph from constants (and `x`) to `y`."""
    ports = [helper.make_tensor_value_info("x", F, x)] if x is not None else []
    shown = [helper.make_tensor_value_info("y", F, out), *(helper.make_empty_tensor_value_info(o) for o in outputs if o != "y")]
    body = helper.make_graph(list(nodes), "g", ports, shown, [numpy_helper.from_array(np.asarray(a), k) for k, a in data.items()])
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def cast_sub_mul(z: Any, s: Any, q: Any = W8, opset: int = 21, to: int = F, outputs: Sequence[str] = ("y",)) -> ModelProto:
    nodes = [n("Cast", "q", "f", to=to), n("Sub", "f z", "d"), n("Mul", "d s")]
    return graph(nodes, opset, q.shape, outputs, q=q, z=np.asarray(z, np.float32), s=np.asarray(s, np.float32))


def rows(shape: Sequence[int], perm: Sequence[int] | None = None, q: Any = None, opset: int = 21) -> ModelProto:
    codes = W8.reshape(12, 2) if q is None else q
    s = RNG.uniform(0.01, 1, len(codes)).astype(np.float32)
    nodes = [n("DequantizeLinear", "q s", "d", axis=0), n("Reshape", "d to", "r" if perm else "y")]
    if perm:
        nodes.append(n("Transpose", "r", perm=list(perm)))
    out = [shape[p] for p in perm] if perm else list(shape)
    return graph(nodes, opset, out, q=codes, s=s, to=np.asarray(shape, np.int64))


def fake_quant(low: float, high: float, zero: float = 0.0, storage: int = I8) -> ModelProto:
    nodes = [
        n("Div", "x s", "v"),
        n("Round", "v", "r"),
        n("Add", "r z", "a"),
        n("Clip", "a low high", "c"),
        n("Cast", "c", "q", to=storage),
        n("Cast", "q", "f", to=F),
        n("Sub", "f z", "d"),
        n("Mul", "d s"),
    ]
    data: dict[str, Any] = {"s": np.float32(0.3), "z": np.float32(zero), "low": np.float32(low), "high": np.float32(high)}
    return graph(nodes, 21, ["N", 4], x=["N", 4], **data)


def quantize_clip(low: int, high: int, moved: bool = False) -> ModelProto:
    nodes = [n("QuantizeLinear", "x s z", "q"), n("Clip", "q low high", "c")]
    nodes += [n("Transpose", "c", "t", perm=[1, 0])] if moved else []
    nodes += [n("DequantizeLinear", ("t" if moved else "c") + " s z")]
    data: dict[str, Any] = {"s": np.float32(0.3), "z": np.int8(-1), "low": np.int8(low), "high": np.int8(high)}
    return graph(nodes, 21, [6, 4] if moved else [4, 6], x=[4, 6], **data)


def steps(model: ModelProto) -> list[str]:
    """Operators with the type of their codes and their attributes."""
    types = {t.name: t.data_type for t in model.graph.initializer}
    found = []
    for node in model.graph.node:
        code = types.get(node.input[0] if node.op_type == "DequantizeLinear" else node.input[-1], 0)
        attributes = "".join(f" {a.name}={a.i}" for a in sorted(node.attribute, key=lambda a: a.name) if a.type == onnx.AttributeProto.INT)
        found.append(f"{node.op_type} {TensorProto.DataType.Name(code).lower()}{attributes}")
    return found


def raised(model: ModelProto, opset: int = 21) -> ModelProto:
    """Raised, checked by the conversion itself and by the tests' judge, bit for bit."""
    result = qdqtool.convert(model, opset=opset, simplify=True, require_check=True)
    verdict = judge(Subject(model, {"x": (3, 4)}), result.model, opset, Exactness.BIT_EQUAL)
    assert verdict.word in ("exact", "lost"), verdict
    found: ModelProto = result.model
    return found


NOOP = {
    "fraction as zero point": cast_sub_mul(0.5, 0.1),
    "zero point out of range": cast_sub_mul(200, 0.1),
    "codes of 32 bits less a zero point": cast_sub_mul(1, 0.1, W8.astype(np.int32) * 1000000),
    "a scale along both axes in part": cast_sub_mul(1, RNG.uniform(0.1, 1, (4, 6)), opset=19),
    "one scale for each element": cast_sub_mul(RNG.integers(-9, 9, (1, 6)), S),
    "inner value is an output": cast_sub_mul(1, 0.1, outputs=("y", "d")),
    "inner value has another reader": graph(
        [n("Cast", "q", "f", to=F), n("Sub", "f z", "d"), n("Mul", "d s", "m"), n("Add", "m d")],
        21, (4, 6), q=W8, z=np.float32(1), s=np.float32(0.1),
    ),
    "rows of no whole blocks": rows([8, 3]),
    "rows at an opset without blocks": rows([4, 6], opset=19),
    "a plain dequantize and a Reshape": graph(
        [n("DequantizeLinear", "q s", "d"), n("Reshape", "d to")], 21, (6, 4), q=W8, s=np.float32(0.1), to=np.asarray([6, 4])
    ),
    "codes over the whole range": graph([n("DequantizeLinear", "q s")], 21, (4, 6), q=W8, s=np.float32(0.1)),
    "narrow codes, wide zero point": graph([n("DequantizeLinear", "q s z")], 21, (4, 6), q=W4, s=np.float32(0.1), z=np.int8(20)),
    "narrow codes at an opset without the type": graph([n("DequantizeLinear", "q s")], 19, (4, 6), q=W4, s=np.float32(0.1)),
    "a bias": graph([n("DequantizeLinear", "q s")], 21, (6,), q=np.arange(6, dtype=np.int32), s=np.float32(0.1)),
    "a Clip to another range": quantize_clip(-7, 7),
    "activations without a Clip": graph(
        [n("QuantizeLinear", "x s z", "q"), n("DequantizeLinear", "q s z")], 21, [4, 6], x=[4, 6], s=np.float32(0.3), z=np.int8(1)
    ),
}  # fmt: skip

RAISED = {
    "one zero point, one scale": (cast_sub_mul(3, 0.1), ["DequantizeLinear int8"]),
    "per axis": (cast_sub_mul(3, S), ["DequantizeLinear int8 axis=0"]),
    "scalar scale, zero points along an axis": (cast_sub_mul(RNG.integers(-9, 9, 6), 0.1), ["DequantizeLinear int8 axis=1"]),
    "groups": (
        graph(
            [n("Cast", "q", "f", to=F), n("Sub", "f z", "d"), n("Mul", "d s", "m"), n("Reshape", "m to")],
            21, (4, 24), q=GROUPS, z=np.float32(8), s=SG, to=np.asarray([4, 24]),
        ),
        ["DequantizeLinear uint4 axis=1 block_size=8"],
    ),
    "int32 by one, then scaled": (
        graph([n("DequantizeLinear", "q one", "d"), n("Mul", "d s")], 21, (4, 6), q=W8.astype(np.int32) * 99, one=np.float32(1), s=S),
        ["DequantizeLinear int16 axis=0"],
    ),
    "rows": (rows([4, 6]), ["DequantizeLinear int8 axis=1 block_size=2"]),
    "rows, transposed": (rows([4, 6], [1, 0]), ["DequantizeLinear int8 axis=0 block_size=2"]),
    "rows of narrow codes": (rows([4, 6], [1, 0], W4.reshape(12, 2)), ["DequantizeLinear int4 axis=0 block_size=2"]),
    "narrow codes": (graph([n("DequantizeLinear", "q s")], 21, (4, 6), q=W4, s=np.float32(0.1)), ["DequantizeLinear int4"]),
    "int32 codes of 16 bits around a zero point": (
        graph([n("DequantizeLinear", "q s")], 21, (2, 2), q=np.asarray([[-100, 65000], [7, 8]], np.int32), s=np.float32(0.1)),
        ["DequantizeLinear uint16"],
    ),
    "quantize, Clip, dequantize": (quantize_clip(-8, 7), ["QuantizeLinear int4", "DequantizeLinear undefined"]),
    "with a mover between": (
        quantize_clip(-8, 7, moved=True),
        ["QuantizeLinear int4", "Transpose undefined", "DequantizeLinear undefined"],
    ),
    "Div, Round, Add, Clip, Cast": (fake_quant(-128, 127, 3), ["QuantizeLinear int8", "DequantizeLinear undefined"]),
    "Div, Round, Add, Clip, Cast of 4 bits": (fake_quant(0, 15, 3, U8), ["QuantizeLinear uint4", "DequantizeLinear undefined"]),
    "16 bits held in int32": (fake_quant(0, 65535, 300, I32), ["QuantizeLinear uint16", "DequantizeLinear undefined"]),
    "float16 behind a float32 dequantize": (
        graph(
            [n("DequantizeLinear", "q s", "d"), n("Cast", "d", "h", to=TensorProto.FLOAT16), n("Cast", "h", to=F)],
            21, (4, 6), q=W8, s=np.float32(0.125),
        ),
        ["DequantizeLinear int8", "Cast undefined to=1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOOP)
def test_no_pattern(name: str) -> None:
    model = NOOP[name]
    opset = model.opset_import[0].version
    result = qdqtool.convert(model, opset=opset, simplify=True, check=False)
    assert result.model.SerializeToString() == model.SerializeToString()


@pytest.mark.parametrize("name", RAISED)
def test_raised(name: str) -> None:
    model, expected = RAISED[name]
    assert steps(raised(model)) == expected
    assert steps(raised(raised(model))) == expected


def test_a_change_counts_the_nodes_of_its_pattern() -> None:
    (change,) = qdqtool.convert(cast_sub_mul(3, 0.1), opset=21, simplify=True, check=False).changes
    assert (change.nodes, change.how, change.exactness) == ((2, 1), ("simplify",), Exactness.BIT_EQUAL)


def test_shared_codes_stay_one_tensor() -> None:
    nodes = [n("DequantizeLinear", "q s", "a"), n("DequantizeLinear", "q t", "b"), n("Add", "a b")]
    model = raised(graph(nodes, 21, (4, 6), q=W4, s=np.float32(0.1), t=np.float32(0.2)))
    assert [t.data_type for t in model.graph.initializer].count(TensorProto.INT4) == 1
    assert len(model.graph.initializer) == 3


def test_codes_that_others_read_are_not_narrowed() -> None:
    nodes = [n("DequantizeLinear", "q s", "a"), n("Add", "q q", "c"), n("Cast", "c", "b", to=F), n("Add", "a b")]
    model = graph(nodes, 21, (4, 6), q=W4, s=np.float32(0.1))
    assert qdqtool.convert(model, opset=21, simplify=True, check=False).changes == ()
