from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.model.graph import MAIN
from qdqtool.plan.regions import Region, Regions
from tests.plan.graphs import CODES, INT4, TENTH, converted, model, ops, planned

E4M3 = dtypes.FLOAT8E4M3FN
LOOP = """g (int64 n, bool c, float[2,8] x) => (float[2,8] y) {
  q = QuantizeLinear(x, s, z)
  l = Loop (n, c, q) <body: graph = b (int64 i, bool k, v) => (k2, v2) { k2 = Identity(k) v2 = Identity(v) }>
  y = DequantizeLinear(l, s, z)
}"""
SCAN = """g (float[2,8] x) => (float[2,8] y) {
  q = QuantizeLinear(x, s, z)
  l = Scan <num_scan_inputs: int = 1, body: graph = b (v) => (v2) { v2 = Identity(v) }> (q)
  y = DequantizeLinear(l, s, z)
}"""
IF = """g (bool c, float[2,8] x) => (float[2,8] y) {
  q = QuantizeLinear(x, s, z)
  l = If (c) <then_branch: graph = t () => (a) { a = Identity(q) }, else_branch: graph = e () => (b) { b = Identity(q) }>
  y = DequantizeLinear(l, s, z)
}"""
MOVED: dict[str, tuple[str, int, int, list[str]]] = {
    "one pair": ("g (float[2,8] x) => (float[2,8] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 21, 13, ["int8"]),
    "Transpose": (
        "g (float[2,8] x) => (y) { q = QuantizeLinear(x, s, z) t = Transpose(q) y = DequantizeLinear(t, s, z) }",
        21,
        13,
        ["int8", "int8"],
    ),
    "constant": ("g (float[2] x) => (y) { t = Transpose(w) y = DequantizeLinear(t, s, z) }", 21, 13, ["int8", "int8"]),
    "constant behind Identity": (
        "g (float[2] x) => (y) { i = Identity(w) t = Transpose(i) y = DequantizeLinear(t, s, z) }",
        21,
        13,
        ["int8", "int8"],
    ),
    "Loop": (LOOP, 21, 13, ["int8"] * 2),
    "Scan": (SCAN, 21, 13, ["int8"] * 2),
    "If": (IF, 21, 13, ["int8"] * 2),
    "native where it can be": (
        "g (float[2,8] x) => (y) { q = QuantizeLinear(x, s, z) t = Transpose(q) y = DequantizeLinear(t, s, z) }",
        25,
        21,
        [],
    ),
}


def constants(storage: dtypes.ElementType = dtypes.INT4) -> dict[str, Any]:
    return {"s": TENTH, "z": np.zeros((), storage.numpy), "w": INT4}


def carriers(text: str, source: int, target: int) -> list[str]:
    builder = planned(model(text, source, **constants()), target)
    assert not builder.plan.refusals, builder.plan.refusals
    main = {r.key.name: str(r.dtype) for r in builder.plan.retypes if r.key.scope == MAIN}
    return [*main.values(), *(str(r.const.dtype) for r in builder.plan.rewires)]


@pytest.mark.parametrize(("text", "source", "target", "expected"), MOVED.values(), ids=MOVED.keys())
def test_a_region_takes_one_carrier(text: str, source: int, target: int, expected: list[str]) -> None:
    assert carriers(text, source, target)[: len(expected)] == expected
    assert len(carriers(text, source, target)) == len(expected)


@pytest.mark.parametrize(
    "text", [text for text, source, *_ in MOVED.values() if source == 21], ids=[n for n, r in MOVED.items() if r[1] == 21]
)
def test_the_result_is_the_same(text: str) -> None:
    report = converted(model(text, **constants()), 13, check=True).check
    assert report is not None
    assert report.verdict == "equal"


def test_declared_types_of_carried_values_change_with_them() -> None:
    proto = model(MOVED["Transpose"][0], **constants())
    for name, shape in (("q", [2, 8]), ("t", [8, 2])):
        proto.graph.value_info.add(name=name).type.tensor_type.elem_type = dtypes.INT4.code
        for size in shape:
            proto.graph.value_info[-1].type.tensor_type.shape.dim.add(dim_value=size)
    result = converted(proto, 13).model
    assert {v.name: v.type.tensor_type.elem_type for v in result.graph.value_info} == {"q": dtypes.INT8.code, "t": dtypes.INT8.code}


def test_float8_travels_as_float32() -> None:
    text = "g (float[2,8] x) => (y) { q = QuantizeLinear(x, s, z) t = Transpose(q) y = DequantizeLinear(t, s, z) }"
    builder = planned(model(text, **constants(E4M3)), 13)
    assert {r.key.name: str(r.dtype) for r in builder.plan.retypes} == {"q": "float32", "t": "float32"}


def test_a_refusal_names_what_the_nearest_carrier_lacks_and_what_follows_from_it() -> None:
    text = """g (bool c) => (y) {
        q = If (c) <then_branch = t () => (int4[2,8] w) {}, else_branch = e () => (int4[8,2] v) { v = Transpose(w) }>
        y = DequantizeLinear(q, s)
    }"""
    first, *others = planned(model(text, w=INT4, s=TENTH), 13).plan.refusals
    assert "an initializer as its result" in first.reasons[0]
    assert first.hint == "--opset 21"
    assert first.because is None
    assert [r.because for r in others] == [first, first]


PINNED: dict[str, tuple[str, str]] = {
    "output": ("g (float[2,8] x) => (int4[2,8] q) { q = QuantizeLinear(x, s, z) }", "graph output q, so its codes must stay int4"),
    "input": ("g (int4[2,8] q) => (y) { y = DequantizeLinear(q, s, z) }", "graph input q, so its codes must stay int4"),
    "behind a mover": (
        "g (int4[2,8] q) => (y) { t = Transpose(q) y = DequantizeLinear(t, s, z) }",
        "graph input q, so its codes must stay int4",
    ),
}


@pytest.mark.parametrize(("text", "reason"), PINNED.values(), ids=PINNED.keys())
def test_borders_pin_a_region(text: str, reason: str) -> None:
    refusals = planned(model(text, **constants()), 13).plan.refusals
    assert refusals
    assert "type-at-border" in {r.code for r in refusals}
    assert all(reason in r.reasons for r in refusals if r.code == "type-at-border")


def test_an_operator_that_computes_with_codes_pins_them() -> None:
    text = "g (float[2,8] x) => (y) { q = QuantizeLinear(x, s, z) m = Mod(q, q) y = DequantizeLinear(q, s, z) o = Cast <to: int = 1> (m) }"
    builder = planned(model(text, **constants(dtypes.INT16)), 13)
    (region,) = Regions(builder.view, builder.lifted, builder.constants).all
    assert set(region.pins) == {"n1 computes with its codes"}
    assert region.carriers() == (dtypes.INT16,)


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        (dtypes.INT4, "int4 int8 float32"),
        (dtypes.UINT2, "uint2 uint8 float32"),
        (dtypes.UINT16, "uint16 int32 float32"),
        (E4M3, "float8e4m3fn float32"),
        (dtypes.FLOAT6E2M3, "float6e2m3 float32"),
        (dtypes.INT32, "int32"),
    ],
)
def test_carriers_hold_every_code(storage: dtypes.ElementType, expected: str) -> None:
    assert " ".join(map(str, Region(storage).carriers())) == expected
    for wider in Region(storage).carriers():
        assert wider.low <= storage.low <= storage.high <= wider.high


def test_a_constant_read_by_others_stays_for_them() -> None:
    text = "g (float[2] x) => (y, v) { t = Transpose(w) y = DequantizeLinear(t, s, z) v = DequantizeLinear(w, s, z) }"
    result = converted(model(text, **constants()), 13).model
    codes = [t for t in result.graph.initializer if list(t.dims) == [2, 8]]
    assert [t.data_type for t in codes] == [dtypes.INT8.code], "one tensor serves both"
    assert ops(result) == ["Transpose", "DequantizeLinear", "DequantizeLinear"]


def test_codes_are_the_same_numbers() -> None:
    result = converted(model(MOVED["constant"][0], **constants()), 13).model
    (codes,) = [t for t in result.graph.initializer if list(t.dims) == [2, 8]]
    assert np.frombuffer(codes.raw_data, np.int8).reshape(2, 8).tolist() == CODES.tolist()
