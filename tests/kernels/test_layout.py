from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdqtool.dtypes import FLOAT, FLOAT16, INT2, INT8, ElementType
from qdqtool.errors import QdqtoolError
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.layout import misfit, parameter_shape
from qdqtool.kernels.quantize import quantize
from tests.formats import same_bits
from tests.kernels.samples import STORAGE
from tests.oracle import oracle_dequantize, oracle_quantize


@st.composite
def layouts(draw: st.DrawFn) -> tuple[tuple[int, ...], int | None, int | None]:
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=4)))
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1)) if shape else None
    block = None if axis is None else draw(st.none() | st.integers(1, 9))
    return shape, axis, block


@settings(max_examples=150, deadline=None)
@given(layouts(), st.integers(0, 2**32 - 1), st.booleans())
def test_any_granularity_equals_the_oracle(layout: tuple[tuple[int, ...], int | None, int | None], seed: int, zeros: bool) -> None:
    shape, axis, block = layout
    rng = np.random.default_rng(seed)
    parameters = parameter_shape(shape, axis, block)
    x = (rng.standard_normal(shape) * 20).astype(np.float32).reshape(shape)
    scale = np.exp(rng.standard_normal(parameters)).astype(np.float32).reshape(parameters)
    zero = rng.integers(-128, 128, parameters).astype(np.int8).reshape(parameters) if zeros else None
    how = {"axis": axis, "block": block}
    q = quantize(x, scale, zero, storage=INT8, compute=FLOAT, **how)
    assert same_bits(q, oracle_quantize(x, scale, zero, storage=INT8, compute=FLOAT, **how), INT8)
    assert same_bits(dequantize(q, scale, zero, expressed=FLOAT, **how), oracle_dequantize(q, scale, zero, expressed=FLOAT, **how), FLOAT)


@settings(max_examples=60, deadline=None)
@given(layouts())
def test_exactly_the_wanted_shape_fits(layout: tuple[tuple[int, ...], int | None, int | None]) -> None:
    shape, axis, block = layout
    wanted = parameter_shape(shape, axis, block)
    assert misfit(shape, wanted, wanted, axis, block) == ""
    assert misfit(shape, (*wanted, 2), None, axis, block)
    assert misfit(shape, wanted, (*wanted, 2), axis, block)


MISFITS = [
    ((3, 4), (3,), None, 2, None, r"axis 2 is outside [-2, 1]"),
    ((4,), (4,), None, 1, None, r"axis 1 is outside [-1, 0]"),
    ((3, 4), (3,), None, 1, None, r"scale of shape [3] where [4] is needed"),
    ((3, 4), (1, 1), None, None, None, r"scale of shape [1, 1] where [] is needed"),
    ((3, 4), (4,), (), 1, None, r"zero point of shape [] where [4] is needed"),
    ((3, 4), (3, 2), None, 1, 0, r"block size 0 is not positive"),
    ((512, 128), (512, 4), None, 0, 32, r"scale of shape [512, 4] where [16, 128] is needed"),
]


@pytest.mark.parametrize(("shape", "scale", "zero", "axis", "block", "reason"), MISFITS)
def test_misfits(shape: tuple, scale: tuple, zero: tuple | None, axis: int | None, block: int | None, reason: str) -> None:
    assert misfit(shape, scale, zero, axis, block) == reason
    with pytest.raises(QdqtoolError) as error:
        quantize(
            np.zeros(shape, np.float32),
            np.ones(scale, np.float32),
            None if zero is None else np.zeros(zero, np.int8),
            storage=INT8,
            axis=axis,
            block=block,
            compute=FLOAT,
        )
    assert error.value.why == reason


@pytest.mark.parametrize(("scale", "zero"), [((), ()), ((1,), ()), ((), (1,)), ((1,), (1,))])
@pytest.mark.parametrize("shape", [(), (3,), (1, 2), (0, 2)])
def test_one_element_parameters_are_per_tensor_in_either_shape(
    shape: tuple[int, ...], scale: tuple[int, ...], zero: tuple[int, ...]
) -> None:
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    q = quantize(x, np.full(scale, 0.5, np.float32), np.full(zero, 3, np.int8), storage=INT8, axis=None, block=None, compute=FLOAT)
    assert q.shape == shape
    assert np.array_equal(q, 2 * x + 3)


def test_a_block_far_longer_than_the_axis_costs_no_memory() -> None:
    q = dequantize(np.ones((2, 3), np.int8), np.array([[2.0], [3.0]], np.float32), None, expressed=FLOAT, axis=1, block=10**12)
    assert q.tolist() == [[2.0] * 3, [3.0] * 3]


@pytest.mark.parametrize("to", STORAGE, ids=repr)
def test_rank_0_stays_an_array_of_rank_0(to: ElementType) -> None:
    x, scale, zero = np.array(1.5, np.float32), np.array(0.5, np.float32), np.zeros((), to.numpy)
    for zero_point in (None, zero):
        q = quantize(x, scale, zero_point, storage=to, axis=None, block=None, compute=FLOAT)
        y = dequantize(q, scale, zero_point, expressed=FLOAT16, axis=None, block=None)
        assert [(type(a), a.shape, a.dtype) for a in (q, y)] == [(np.ndarray, (), to.numpy), (np.ndarray, (), FLOAT16.numpy)]
        assert y == (0.5 if to is INT2 else 1.5)
