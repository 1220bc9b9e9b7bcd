"""Elementwise operators, types that came later, and constants: Clip, Equal, Max, Mod, Pow, Round, BitShift, Constant, Range ..."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16 as BFLOAT16
from ml_dtypes import float8_e4m3fn as FLOAT8

from ..adapting import Case, case
from ..sources import data, ints
from ..verbs import becomes, each, refused, same

X = data(2, 3, 4, 5)
SPECIAL = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.3, 2.7, np.inf, -np.inf, np.nan, 0, 1e30], np.float32)
SIGNED, UNSIGNED = (np.int8, np.int16, np.int32, np.int64), (np.uint8, np.uint16, np.uint32, np.uint64)
SHIFTS = np.array([1, 2, 0, 7, 8, 3, 9])
DIVIDENDS, DIVISORS = np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])
ONE, MINUS = np.float32(1), np.float32(-1)


def bits(dtype: type) -> np.ndarray:
    return np.array([-128, -7, -1, 0, 1, 7, 127]).astype(dtype)


MOVES = [
    (case("Clip", 7, X, min=-1.0, max=1.0), [11, 13]),
    (case("Clip", 7, X, max=1.0), [11, 13]),
    (case("Clip", 13, X, MINUS, ONE, constant=[1, 2]), [11, 9, 7]),
    (case("Clip", 13, X, np.float32(2), ONE, constant=[1, 2]), [11, 9, 7]),
    (case("Clip", 13, SPECIAL, MINUS), [11, 9]),
    (case("Clip", 13, X, MINUS, ONE), [11, 9]),
    *((case("Clip", 13, bits(t), np.array(1, t), np.array(7, t)), [11, 9]) for t in (np.int32, np.uint8, np.int8)),
    *((case(op, 8, data(2, 3), data(3), data(2, 1)), [7]) for op in ("Sum", "Max", "Min", "Mean")),
    (case("Equal", 11, SPECIAL, SPECIAL[::-1].copy()), [9, 7]),
    (case("Equal", 11, SPECIAL, SPECIAL), [9, 7]),
    (case("Equal", 11, bits(np.uint64), bits(np.uint64)[::-1].copy()), [9]),
    *((case(op, 16, SPECIAL, ONE), [11, 9, 7]) for op in ("GreaterOrEqual", "LessOrEqual")),
    (case("Pow", 12, np.abs(X), np.int32(2)), [9, 7]),
    (case("Pow", 13, np.arange(9, dtype=np.int32), np.float32(2)), [9]),
    *((case("Mod", 10, DIVIDENDS.astype(t), DIVISORS.astype(t)), [9]) for t in (np.int32, np.int64)),
    (case("Mod", 28, DIVIDENDS.astype(np.int32), DIVISORS.astype(np.int32), fmod=1), [27, 13]),
    (case("Mod", 28, data(50), data(51)[:50]), [27, 13, 10]),
    *((case("BitShift", 28, bits(t), SHIFTS.astype(t), direction=d), [27, 13, 11]) for t in SIGNED for d in ("LEFT", "RIGHT")),
    *((case("BitwiseNot", 18, bits(t)), [17, 13, 7]) for t in (*SIGNED, *UNSIGNED)),
    (case("IsNaN", 9, SPECIAL), [8, 7]),
    *((case("IsInf", 10, SPECIAL, detect_positive=p, detect_negative=n), [9, 7]) for p in (0, 1) for n in (0, 1)),
    (case("Round", 11, SPECIAL), [10, 9, 7]),
    *((case(op, 13, bits(t), SHIFTS.astype(t)), [11, 9]) for op in ("Max", "Min") for t in (np.int32, np.int64)),
    *((case("Relu", 14, X.astype(t)), [13, 7]) for t in (np.int32, np.int8)),
    *((case(op, 14, bits(t), bits(t) | 1), [13, 7]) for op in ("Add", "Sub", "Mul", "Div") for t in (np.int8, np.int16)),
    (case("Transpose", 13, X.astype(np.int8), perm=[3, 0, 1, 2]), [7]),
    (case("CastLike", 15, X, np.zeros(1, np.int32)), [13, 9, 24]),
    (case("CastLike", 25, X, np.zeros(1, np.float16)), [13, 9, 24]),
    *((case("Trilu", 14, X, np.int64(k), constant=[1], upper=u), [13, 9]) for u in (0, 1) for k in (-1, 0, 2)),
    (case("EyeLike", 9, data(3, 4), k=1), [8, 7]),
    (case("ConstantOfShape", 9, ints(2, 3)), [8]),
    (case("Constant", 13, value_floats=[1.0, 2.0]), [11, 7]),
    (case("Constant", 13, value_int=3), [11, 9]),
    *((case("Range", 11, t(1), t(9), t(2), constant=[0, 1, 2]), [10, 7]) for t in (np.float32, np.int64)),
    (case("Range", 11, np.float32(1), np.float32(9), np.float32(0.7)), [10, 7]),
]

BECOMES = [
    (case("Clip", 13, X, MINUS, ONE, constant=[1, 2]), 9, "Clip"),
    (case("Clip", 13, X, MINUS, ONE), 9, "Less Where Less Where"),
    (case("Sum", 8, data(2, 3), data(3), data(2, 1)), 7, "Add Add"),
    (case("CastLike", 15, X, np.zeros(1, np.int32)), 13, "Cast"),
    (case("Relu", 14, X.astype(np.int8)), 13, "Cast Relu Cast"),
    (case("Range", 11, np.float32(1), np.float32(9), np.float32(2), constant=[0, 1, 2]), 10, "Identity"),
    (case("Where", 16, X > 0, X.astype(BFLOAT16), X.astype(BFLOAT16)), 15, "Cast Cast Where Cast"),
    (case("Transpose", 21, X.astype(FLOAT8)), 19, "Cast Transpose Cast"),
]

REFUSED = [
    (case("Sin", 22, X.astype(BFLOAT16)), 21, "Sin accepts bfloat16"),
    (case("Transpose", 21, X.astype(FLOAT8)), 18, "Cast from float8e4m3fn needs opset 19"),
    (case("Mod", 10, X, X, fmod=1), 9, "Mod of float32 needs opset 10"),
    (case("Where", 9, X > 0, X, X), 8, "opset 8 has no operator Where (from opset 9)"),
    (case("Trilu", 14, X, np.int64(1)), 13, "lengths and diagonal are not known"),
]


@each(MOVES)
def test_computes_the_same(case: Case, target: int) -> None:
    same(case, target)


@pytest.mark.parametrize(("case", "target", "operators"), BECOMES, ids=str)
def test_becomes(case: Case, target: int, operators: str) -> None:
    assert " ".join(becomes(case, target)) == operators


@pytest.mark.parametrize(("case", "target", "words"), REFUSED, ids=str)
def test_is_refused(case: Case, target: int, words: str) -> None:
    assert words in refused(case, target)
