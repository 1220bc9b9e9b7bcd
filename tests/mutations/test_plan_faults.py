"""Faults planted above the lowerings: in lifting, regions, forms, writing down. The check alone finds each, and so does a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

import qdqtool
from qdqtool.dtypes import BOOL, FLOAT
from qdqtool.expressions import Computed, Op
from qdqtool.plan import apply, choose, dynamic, emit, lift, recentring
from tests.plan import test_apply, test_choose, test_dynamic, test_lift, test_regions
from tests.plan.graphs import INT4, TENTH, model


@dataclass(frozen=True)
class Fault:
    """What is planted where; a model and target that show it; the test that fails."""

    where: Any
    name: str
    value: Callable[..., Any]
    model: ModelProto
    target: int
    test: Callable[[], None]


def _share_by_type(self: Any, const: Any, output: str, place: Any) -> str:
    for (_, known), name in self._constants.items():
        if isinstance(const, Computed) and isinstance(known, Computed) and (known.shape, known.dtype) == (const.shape, const.dtype):
            return str(name)
    return str(_constant(self, const, output, place))


def _fill_first(expr: Any, slots: Any) -> Any:
    """Every stored slot is filled with the first constant of its type and shape."""
    real = {k: next(v for v in slots.values() if (v.dtype, v.shape) == (k.dtype, k.shape)) for k in slots}
    return _fill(expr, real)


_constant, _fill, _operator = apply._Application._constant, choose.fill, emit.Emitter._operator


def _unordered(self: Any, op: Any, output: str) -> None:
    _operator(self, op, output)
    if op.op == "Sub":
        self.nodes[-1].input.reverse()


TWO = "g (float[2,8] x) => (y) { a = DequantizeLinear(w, s) b = DequantizeLinear(v, s) m = Mul(a, x) y = Sub(m, b) }"
FLOAT16 = "g (float16[64,64] x) => (int8[64,64] q) { q = QuantizeLinear(x, s, z) }"
MOVED = "g (float[2,8] x) => (y) { t = Transpose(w) d = DequantizeLinear(t, s) y = MatMul(x, d) }"
WITH_ZERO = "g (int16[2,8] x) => (y) { y = DequantizeLinear(x, s, z) }"
DYNAMIC = "g (float[4,8] x) => (uint8[4,8] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }"
AXIS_ZEROS = "g (float[2] x) => (y) { y = DequantizeLinear <axis: int = 0> (w, s, z) }"

FAULTS = {
    "a constant takes another's tensor": Fault(
        apply._Application,
        "_constant",
        _share_by_type,
        model(TWO, w=INT4, v=INT4[::-1].copy(), s=TENTH),
        13,
        test_apply.test_different_constants_stay_apart,
    ),
    "a moved constant is doubled": Fault(
        recentring,
        "cast",
        lambda x, to: Computed("times", (x,), (1, to), to, x.shape),
        model(MOVED, w=INT4, s=TENTH),
        13,
        test_regions.test_codes_are_the_same_numbers,
    ),
    "float16 quantize left alone across 22 and 23": Fault(
        lift,
        "_moves",
        lambda *_: True,
        model(FLOAT16, 22, s=np.float16(0.1), z=np.int8(1)),
        23,
        lambda: test_lift.test_a_node_stays_where_it_means_the_same(*test_lift.ALONE["float16 across 22 and 23"]),
    ),
    "slots filled with the first of their kind": Fault(
        choose,
        "fill",
        _fill_first,
        model(AXIS_ZEROS, w=np.int16([7, -9000]), s=np.float32([0.5, 1]), z=np.int16([1, 300])),
        13,
        test_choose.test_slots_of_one_kind_stay_apart,
    ),
    "operands reversed when written": Fault(
        emit.Emitter,
        "_operator",
        _unordered,
        model(WITH_ZERO, s=TENTH, z=np.int16(300)),
        9,
        lambda: test_dynamic.test_dynamic_quantization_is_onnx_runtime_s(test_dynamic.TENSORS["both signs"], 10),
    ),
    "dynamic scale of zeros stays 0": Fault(
        dynamic,
        "_not_positive",
        lambda value: Op("Less", (value, _literal(0.0, FLOAT)), (), BOOL, ()),
        model(DYNAMIC, 11, 6),
        10,
        lambda: test_dynamic.test_dynamic_quantization_is_onnx_runtime_s(test_dynamic.TENSORS["zeros"], 10),
    ),
    "dynamic scale over 254 steps": Fault(
        dynamic,
        "literal",
        lambda value, dtype: _literal(254.0 if value == 255.0 else value, dtype),
        model(DYNAMIC, 11, 6),
        10,
        lambda: test_dynamic.test_dynamic_quantization_is_onnx_runtime_s(test_dynamic.TENSORS["both signs"], 10),
    ),
}
_literal = dynamic.literal


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_the_check_alone_finds_it(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert qdqtool.convert(fault.model, opset=fault.target).check is not None
    monkeypatch.setattr(fault.where, fault.name, fault.value)
    with pytest.raises(qdqtool.CheckFailed):
        qdqtool.convert(fault.model, opset=fault.target)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_the_tests_alone_find_it(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.test()
    monkeypatch.setattr(fault.where, fault.name, fault.value)
    with pytest.raises(AssertionError):
        fault.test()
