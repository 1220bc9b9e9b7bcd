"""The kernels that quantize and dequantize constants: what they are given, and that it fits together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdqtool.errors import QdqtoolError
from qdqtool.kernels.dequantized import Dequantized
from qdqtool.kernels.grid import Grid, grid, scale_shape
from qdqtool.kernels.quantized import Quantized
from qdqtool.kernels.sources import Source, size
from qdqtool.quantization import Granularity


def _grid(data: Source, granularity: Granularity, *parameters: Source | None) -> Grid:
    """How the parameters lie over the data; QdqtoolError where they do not fit it."""
    found = grid(data.shape, granularity)
    for parameter in parameters:
        if parameter is not None and size(parameter) != found.scales:
            needed = list(scale_shape(data.shape, granularity))
            why = f"{list(parameter.shape)} for {granularity} of {list(data.shape)}, where {needed} is needed"
            raise QdqtoolError("parameters-misfit", "scale or zero point does not fit the data", why=why)
    return found


def dequantized(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(codes, scale, zero point?)``, ``(granularity, expressed)``."""
    granularity, expressed = params
    codes, scale, zero = (*sources, None)[:3]
    assert codes is not None
    assert scale is not None
    return Dequantized(codes, scale, zero, _grid(codes, granularity, scale, zero), expressed)


def quantized(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(x, scale, zero point?)``, ``(granularity, storage, compute, saturate)``."""
    granularity, storage, compute, saturate = params
    x, scale, zero = (*sources, None)[:3]
    assert x is not None
    assert scale is not None
    return Quantized(x, scale, zero, _grid(x, granularity, scale, zero), storage, compute, saturate)
