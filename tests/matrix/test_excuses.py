"""The excuses are found where they should be, and nowhere else."""

from __future__ import annotations

import pytest

from tests.graphs import suite
from tests.matrix.excuses import excuse, known

CASES = {c.id: c for c in suite()}


def _first(start: str) -> str:
    return next(name for name in CASES if name.startswith(start))


@pytest.mark.parametrize(
    ("dtype", "since"),
    [
        ("int16", 7),
        ("bfloat16", 13),
        ("float8e4m3fn", 19),
        ("int4", 21),
        ("float4e2m1", 23),
        ("float8e8m0", 24),
        ("int2", 25),
        ("float6e2m3", 28),
    ],
)
def test_types_are_known_since_their_opset(dtype: str, since: int) -> None:
    assert dtype in known(since)
    assert dtype not in known(since - 1) or since == 7


@pytest.mark.parametrize(
    ("start", "target", "letter"),
    [
        ("q-codes/int4", 13, "p"),
        ("q-codes/int4", 21, ""),
        ("q-codes/int16", 10, ""),
        ("q-cast/int4", 13, ""),
        ("all-codes/float6e2m3", 7, ""),
        ("q-cast/float8e4m3fn-axis0-float16", 13, "q"),
        ("saturate0-pair/float8e4m3fn", 17, "q"),
        ("if-quantized/float8e4m3fn", 17, "q"),
        ("loop-pair/float4e2m1", 21, ""),
        ("function-pair/float4e2m1", 10, ""),
        ("function-pair/float4e2m1", 7, "q"),
    ],
)
def test_an_excuse(start: str, target: int, letter: str) -> None:
    case = CASES[_first(start)]
    assert excuse(case.model(), case.form, target) == letter
