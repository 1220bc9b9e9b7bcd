"""Plain arithmetic on constants against ONNX Runtime, bit for bit, and where that has no kernel against float64 rounded once."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

from qdqtool import dtypes
from qdqtool.kernels.arithmetic import OPERATIONS, arithmetic
from qdqtool.kernels.cast import cast
from tests.judging import runtime

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(3)
UNARY = ("Neg", "Sqrt")


def operands(op: str, dtype: Any) -> list[Array]:
    """Numbers of all magnitudes, with zeros, infinities and NaN."""
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 65504.0, 1e-7]
    drawn = [RNG.normal(0, 1, 2000) * 2.0 ** RNG.integers(-30, 30, 2000) for _ in range(2)]
    a, b = ([*odd, *values] for values in drawn)
    with np.errstate(over="ignore"):
        return [np.asarray(a).astype(dtype)] + ([] if op in UNARY else [np.asarray(b[::-1]).astype(dtype)])


def in_runtime(op: str, given: list[Array]) -> Array:
    kind = dtypes.of_numpy(given[0].dtype).code
    names = ["a", "b"][: len(given)]
    node = helper.make_node(op, names, ["y"])
    inputs = [helper.make_tensor_value_info(name, kind, x.shape) for name, x in zip(names, given, strict=True)]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", kind, None)])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return runtime.run(proto, runtime.session(proto), dict(zip(names, given, strict=True)))[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("op", OPERATIONS)
def test_as_the_runtime(op: str, dtype: Any) -> None:
    given = operands(op, dtype)
    got, expected = arithmetic(op, *given), in_runtime(op, given)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    assert (np.signbit(got) == np.signbit(expected))[~np.isnan(expected)].all()


@pytest.mark.parametrize("op", OPERATIONS)
def test_bfloat16_is_rounded_once(op: str) -> None:
    given = operands(op, ml_dtypes.bfloat16)
    with np.errstate(all="ignore"):
        exact = np.asarray(OPERATIONS[op](*(g.astype(np.float64) for g in given)))
    expected = cast(exact, dtypes.BFLOAT16)
    np.testing.assert_array_equal(arithmetic(op, *given).astype(np.float32), expected.astype(np.float32))


def test_shapes_broadcast() -> None:
    assert arithmetic("Mul", np.ones((3, 1), np.float32), np.ones((4,), np.float32)).shape == (3, 4)
