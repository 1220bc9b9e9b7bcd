"""The kernels that quantize and dequantize constants: what they are given, that it fits together, and whether tiles are worth while."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from qdqtool.errors import QdqtoolError
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.dequantized import Dequantized
from qdqtool.kernels.grid import Shape, grid, scale_shape
from qdqtool.kernels.quantize import quantize
from qdqtool.kernels.quantized import Quantized
from qdqtool.kernels.sources import Array, Source, materialize, parallel, size
from qdqtool.kernels.whole import Whole
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor

SMALL = 1 << 13
"""Elements below which what a tile needs to be set up costs more than the arithmetic."""


def _needed(data: Source, granularity: Granularity, *parameters: Source | None) -> Shape:
    """Shape of the parameters of the data; QdqtoolError where they do not fit it."""
    needed = scale_shape(data.shape, granularity)
    count = prod(needed)
    for parameter in parameters:
        if parameter is not None and size(parameter) != count:
            why = f"{list(parameter.shape)} for {granularity} of {list(data.shape)}, where {list(needed)} is needed"
            raise QdqtoolError("parameters-misfit", "scale or zero point does not fit the data", why=why)
    return needed


def dequantized(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(codes, scale, zero point?)``, ``(granularity, expressed)``."""
    granularity, expressed = params
    codes, scale, zero = (*sources, None)[:3]
    assert codes is not None
    assert scale is not None
    needed, place = _needed(codes, granularity, scale, zero), _place(granularity)
    if place is None or size(codes) >= SMALL:
        return Dequantized(codes, scale, zero, grid(codes.shape, granularity), expressed)
    made = _made(dequantize, sources, needed, expressed=expressed, axis=place[0], block=place[1])
    return Whole(made, expressed, codes.shape, all(map(parallel, sources)))


def quantized(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(x, scale, zero point?)``, ``(granularity, storage, compute, saturate)``."""
    granularity, storage, compute, saturate = params
    x, scale, zero = (*sources, None)[:3]
    assert x is not None
    assert scale is not None
    needed, place = _needed(x, granularity, scale, zero), _place(granularity)
    if place is None or size(x) >= SMALL:
        return Quantized(x, scale, zero, grid(x.shape, granularity), storage, compute, saturate)
    how = {"storage": storage, "compute": compute, "saturate": saturate, "axis": place[0], "block": place[1]}
    return Whole(_made(quantize, sources, needed, **how), storage, x.shape, all(map(parallel, sources)))


def _place(granularity: Granularity) -> tuple[int | None, int | None] | None:
    """Axis and block, as the whole-array kernels take them; None where these do not tell the granularity."""
    match granularity:
        case PerTensor():
            return None, None
        case PerAxis(axis):
            return axis, None
        case Blocked(axis, block):
            return axis, block
    return None


def _made(kernel: Callable[..., Array], sources: Sequence[Source], needed: Shape, **how: Any) -> Callable[[], Array]:
    """What a whole-array kernel makes of constants; their parameters may have any shape of the right size."""

    def make() -> Array:
        scale, *zero = [materialize(source).reshape(needed) for source in sources[1:]]
        return kernel(materialize(sources[0]), scale, zero[0] if zero else None, **how)

    return make
