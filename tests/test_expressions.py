from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.expressions import (
    Computed,
    Literal,
    Op,
    Runtime,
    Step,
    Stored,
    binary,
    cast,
    children,
    elements,
    is_const,
    known,
    literal,
    reshape,
    run_time_cast,
    walk,
)
from qdqtool.quantization import Meaning, PerTensor

F32, I8, I64 = dtypes.FLOAT, dtypes.INT8, dtypes.INT64
W = Stored((), "w", I8, (2, 3))
X = Runtime("x", F32, (4, None))


@pytest.mark.parametrize(
    ("values", "dtype", "shape"),
    [(1.5, F32, ()), ([1, -2], I8, (2,)), ([[0.5], [6]], dtypes.FLOAT4E2M1, (2, 1)), ([], I64, (0,)), ([-8, 7], dtypes.INT4, (2,))],
)
def test_a_literal_holds_its_numbers(values: Any, dtype: dtypes.ElementType, shape: tuple[int, ...]) -> None:
    made = literal(values, dtype)
    assert (made.dtype, made.shape, made.array.dtype) == (dtype, shape, dtype.numpy)
    assert made.array.astype(np.float64).tolist() == np.asarray(values, np.float64).tolist()


def test_a_literal_can_be_spread() -> None:
    assert literal(3, I8, (2, 2)) == literal([[3, 3], [3, 3]], I8)


def test_literals_differ_by_bits() -> None:
    assert literal(0.0, F32) != literal(-0.0, F32)
    assert literal(float("nan"), F32) == literal(float("nan"), F32)


@pytest.mark.parametrize(("expr", "expected"), [(W, True), (literal(1, I8), True), (cast(W, F32), True), (X, False), (None, False)])
def test_what_is_constant(expr: Any, expected: bool) -> None:
    assert is_const(expr) is expected


def test_a_cast_is_computed_for_a_constant_and_a_node_for_a_value() -> None:
    assert cast(W, I8) is W
    assert cast(W, F32) == Computed("cast", (W,), (F32,), F32, (2, 3))
    assert cast(X, I8) == Op("Cast", (X,), (("to", 3),), I8, (4, None))
    assert run_time_cast(W, F32) == Op("Cast", (W,), (("to", 1),), F32, (2, 3))
    assert run_time_cast(W, I8) is W


def test_a_reshape_likewise() -> None:
    assert reshape(W, (2, 3)) is W
    assert reshape(W, (6,)) == Computed("reshape", (W,), ((6,),), I8, (6,))
    assert reshape(X, (-1, 2)) == Op("Reshape", (X, literal([-1, 2], I64)), (), F32, (None, 2))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((4, 5), (), (4, 5)),
        ((), (4, 5), (4, 5)),
        ((4, 5), (5,), (4, 5)),
        (None, (5,), (5,)),
        ((5,), None, (5,)),
        ((4, None), (4, 1), (4, None)),
    ],
)
def test_a_product_has_the_shape_of_the_larger(a: Any, b: Any, expected: Any) -> None:
    assert binary("Mul", Runtime("a", F32, a), Runtime("b", F32, b)).shape == expected


@pytest.mark.parametrize(
    ("shape", "sizes", "count"), [((2, 3), (2, 3), 6), ((2, None), None, 2), (None, None, 1), ((), (), 1), ((0, 4), (0, 4), 0)]
)
def test_shapes(shape: Any, sizes: Any, count: int) -> None:
    assert known(shape) == sizes
    assert elements(shape) == count


def test_children_and_everything_below() -> None:
    scale = literal(0.5, F32)
    step = Step(Meaning("dequantize", I8, F32, F32, PerTensor()), cast(W, F32), scale, None, F32, (2, 3))
    tree = Op("Clip", (step, None, literal(1.0, F32)), (), F32, (2, 3))
    assert list(children(tree)) == [step, literal(1.0, F32)]
    assert list(children(step)) == [cast(W, F32), scale]
    assert list(children(X)) == list(children(W)) == list(children(scale)) == []
    assert list(walk(tree)) == [tree, step, cast(W, F32), W, scale, literal(1.0, F32)]


def test_equal_expressions_are_equal() -> None:
    assert {literal(1, I8), literal(1, I8), Literal(b"\x01", I8, ())} == {literal(1, I8)}
    assert len({reshape(W, (6,)), reshape(W, (6,)), cast(W, F32)}) == 2
