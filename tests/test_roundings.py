"""Every way to round a quotient, against exact fractions: ties, their neighbours, and numbers of every size."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import get_args

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.capabilities import reject, row_at
from qdqtool.exactness import Exactness
from qdqtool.plan.choices import Choice, Rejection
from qdqtool.quantization import Meaning, PerAxis, PerTensor, Rounding
from tests.lowerings.given import Array, Given, meaning, quantize
from tests.lowerings.verbs import chosen, evaluate

HALF = Fraction(1, 2)
BY_SIZE: dict[Rounding, Callable[[Fraction], int]] = {
    "half away": lambda v: floor(v + HALF),
    "half to zero": lambda v: ceil(v - HALF),
    "away": ceil,
    "to zero": floor,
}
AS_IT_IS: dict[Rounding, Callable[[Fraction], int]] = {
    "half even": round,
    "half up": lambda v: floor(v + HALF),
    "half down": lambda v: ceil(v - HALF),
    "up": ceil,
    "down": floor,
}
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)


def exact(v: Fraction, rounding: Rounding) -> int:
    if rounding in AS_IT_IS:
        return AS_IT_IS[rounding](v)
    return BY_SIZE[rounding](abs(v)) * (1 if v > 0 else -1)


def numbers() -> Array:
    """Ties up to 300 and their neighbours, and a few numbers of every binade, of both signs."""
    ties = np.arange(0, 300, 0.5, np.float32)
    binades = np.ldexp(np.float32([1, 1.25, 1.5, 1.9999999]), np.arange(-149, 127)[:, None]).astype(np.float32).reshape(-1)
    values = np.concatenate([ties, np.nextafter(ties, np.float32(-1)), np.nextafter(ties, np.float32(np.inf)), binades])
    return np.concatenate([values, -values])


def given(storage: dtypes.ElementType, rounding: Rounding, zero: int) -> Given:
    made = meaning(quantize(storage, (len(numbers()),), scales=[1.0], zero=zero), rounding=rounding)
    return Given(made.step, numbers(), made.scale, made.zero)


def expected(values: Array, storage: dtypes.ElementType, rounding: Rounding, zero: int) -> list[int]:
    low, high = int(storage.low), int(storage.high)
    return [min(max(exact(Fraction(float(v)), rounding) + zero, low), high) for v in values]


@pytest.mark.parametrize("storage", [dtypes.INT8, dtypes.UINT8, dtypes.INT16, dtypes.INT4], ids=str)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_every_way_to_round_is_exact(rounding: Rounding, storage: dtypes.ElementType) -> None:
    for zero, opset in ((0, 21), (3, 21), (3, 9)):
        case = given(storage, rounding, zero)
        found = chosen(case, opset)
        if opset == 9 and storage.bits == 4:
            assert isinstance(found, Rejection)
            continue
        assert isinstance(found, Choice)
        assert found.exactness is Exactness.BIT_EQUAL
        got = evaluate(found.expr, case, opset).astype(np.int64)
        assert got.tolist() == expected(case.codes, storage, rounding, zero)


@pytest.mark.parametrize("rounding", ["half up", "down", "half away"])
def test_scales_along_an_axis(rounding: Rounding) -> None:
    case = meaning(quantize(dtypes.INT8, (4, 140), PerAxis(0), scales=[0.5, 0.25, 2.0, 4.0], zero=True), rounding=rounding)
    found = chosen(case, 13)
    assert isinstance(found, Choice)
    assert case.zero is not None
    quotients = (case.codes / case.scale[:, None]).astype(np.float32)
    quotients = np.where(np.isfinite(quotients), quotients, np.float32(0))
    case = Given(case.step, quotients * case.scale[:, None], case.scale, case.zero)
    got = evaluate(found.expr, case, 13).astype(np.int64)
    for row, zero in enumerate(case.zero):
        assert got[row].tolist() == expected(quotients[row], dtypes.INT8, rounding, int(zero))


def test_no_version_of_onnx_says_them() -> None:
    said = Meaning("quantize", dtypes.INT8, dtypes.FLOAT, dtypes.FLOAT, PerTensor(), dtypes.FLOAT, rounding="half up")
    row = row_at("ai.onnx", "quantize", 21)
    assert row is not None
    assert reject(said, row) == ["ai.onnx QuantizeLinear-21 rounds half to even, not half up"]
    assert str(said) == "float32 to int8, per tensor, float32 scale, rounded half up"


def test_those_that_use_the_sign_need_opset_9() -> None:
    found = chosen(given(dtypes.INT8, "half away", 0), 8)
    assert isinstance(found, Rejection)
    assert found.reasons == ("opset 8 has no operator Sign (from opset 9)",)
