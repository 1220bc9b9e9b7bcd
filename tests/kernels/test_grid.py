from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdqtool.dtypes import FLOAT
from qdqtool.errors import QdqtoolError
from qdqtool.kernels import recode
from qdqtool.kernels.grid import grid, scale_shape
from qdqtool.kernels.layout import parameter_shape
from qdqtool.kernels.sources import ArraySource
from qdqtool.quantization import Blocked, ByScale, Granularity, PerAxis, PerTensor, Tiles
from tests.kernels.streams import granularities, laid, shapes


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_scale_of_each_element(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    granularity = data.draw(granularities(shape))
    found = grid(shape, granularity)
    scales = np.arange(prod(scale_shape(shape, granularity)))
    start = data.draw(st.integers(0, prod(shape)))
    assert found.scales == scales.size
    assert found.index(start, prod(shape)).tolist() == laid(scales, shape, granularity)[start:].tolist()


@pytest.mark.parametrize("shape", [(6, 10), (1, 4), (3,), (2, 3, 4)])
def test_shapes_as_the_operators_have_them(shape: tuple[int, ...]) -> None:
    assert scale_shape(shape, PerTensor()) == parameter_shape(shape, None, None)
    for axis in range(-len(shape), len(shape)):
        assert scale_shape(shape, PerAxis(axis)) == parameter_shape(shape, axis, None)
        for block in (1, 3, 4, 99):
            assert scale_shape(shape, Blocked(axis, block)) == parameter_shape(shape, axis, block)


def test_groups_are_few() -> None:
    assert grid((8, 3, 3, 16), PerAxis(0)).groups == ((8, 1), (144, 144))
    assert grid((64, 1, 96), Blocked(2, 32)).groups == ((192, 1), (32, 32))
    assert grid((256, 512), Tiles(((0, 128), (1, 128)))).groups == ((2, 1), (128, 128), (4, 1), (128, 128))
    assert grid((5, 7), PerTensor()).groups == ((35, 35),)


@pytest.mark.parametrize("granularity", [PerAxis(2), Blocked(-3, 4), Blocked(0, 0), Tiles(((1, 2), (5, 1))), ByScale(0)], ids=str)
def test_a_granularity_that_does_not_fit(granularity: Granularity) -> None:
    with pytest.raises(QdqtoolError) as error:
        grid((3, 4), granularity)
    assert error.value.code == "parameters-misfit"


@pytest.mark.parametrize("kernel", ["dequantize", "quantize"])
def test_a_scale_of_another_size(kernel: str) -> None:
    sources = [ArraySource(np.zeros((3, 4), np.int8)), ArraySource(np.ones(4, np.float32))]
    params = (PerAxis(0), FLOAT) if kernel == "dequantize" else (PerAxis(0), FLOAT, FLOAT, True)
    with pytest.raises(QdqtoolError) as error:
        recode.open_kernel(kernel, sources, params)
    assert error.value.why == "[4] for per axis 0 of [3, 4], where [3] is needed"
