"""Parameters that meet: granularity and shapes against a plain numpy broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.expressions import Computed, Const, Literal, literal
from qdqtool.kernels import recode
from qdqtool.kernels.layout import spread
from qdqtool.kernels.sources import ArraySource, Source, materialize
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor
from qdqtool.raising.layouts import Part, meet, of_broadcast, of_granularity


def numbers(shape: tuple[int, ...], start: int = 0) -> Literal:
    return literal(np.arange(start, start + int(np.prod(shape))).reshape(shape), dtypes.FLOAT)


def value(const: Const) -> Any:
    return materialize(_source(const))


def _source(const: Const) -> Source:
    if isinstance(const, Literal):
        return ArraySource(const.array)
    assert isinstance(const, Computed)
    return recode.open_kernel(const.kernel, [_source(a) for a in const.args], const.params)


def broadcast(parameter: Literal, shape: tuple[int, ...]) -> Part:
    factors = of_broadcast(parameter.shape, shape)
    assert factors is not None
    return Part(parameter, factors)


@pytest.mark.parametrize(
    ("shape", "parameter", "expected"),
    [
        ((4, 6), (), PerTensor()),
        ((4, 6), (1, 1), PerTensor()),
        ((4, 6), (6,), PerAxis(1)),
        ((4, 6), (4, 1), PerAxis(0)),
        ((4, 6), (4, 6), Blocked(1, 1)),
        ((2, 3, 4), (2, 3, 1), Blocked(2, 4)),
        ((2, 3, 4), (2, 1, 4), Blocked(1, 3)),
        ((2, 3, 4), (1, 3, 1), PerAxis(1)),
        ((None, 3, None), (3, 1), PerAxis(1)),
    ],
)
def test_a_broadcast_is_a_granularity(shape: tuple[int, ...], parameter: tuple[int, ...], expected: Granularity) -> None:
    found = meet(shape, [broadcast(numbers(parameter), shape)])
    assert found is not None
    assert found[0] == expected


@pytest.mark.parametrize(("shape", "parameter"), [((4, 6), (5,)), ((6,), (4, 6)), ((1, 6), (4, 1))])
def test_what_does_not_broadcast(shape: tuple[int, ...], parameter: tuple[int, ...]) -> None:
    assert of_broadcast(parameter, shape) is None


def test_groups_are_blocks_of_the_flat_shape() -> None:
    factors = of_broadcast((4, 3, 1), (4, 3, 8))
    assert factors is not None
    found = meet((4, 24), [Part(numbers((4, 3, 1)), factors)])
    assert found is not None
    assert found[0] == Blocked(1, 8)
    assert found[1][0].shape == (4, 3)


def test_ragged_blocks_have_no_factors() -> None:
    assert of_granularity(Blocked(1, 4), (2, 6)) is None


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_met_parameters_are_the_broadcast_ones(dims: list[int], data: st.DataObject) -> None:
    shape = tuple(dims)
    pick = st.tuples(*(st.sampled_from(sorted({1, d})) for d in shape))
    parts = [broadcast(numbers(data.draw(pick), start), shape) for start in (1, 1000)]
    found = meet(shape, parts)
    assert found is not None
    where, consts = found
    axis = None if isinstance(where, PerTensor) else where.axis
    block = where.block if isinstance(where, Blocked) else None
    for part, const in zip(parts, consts, strict=True):
        wanted = np.broadcast_to(value(part.const), shape)
        assert (np.broadcast_to(spread(value(const), shape, axis, block), shape) == wanted).all()
