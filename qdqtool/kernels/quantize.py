"""Quantize whole arrays."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.layout import require_fit, spread
from qdqtool.kernels.sources import Array


def quantize(
    x: Array,
    scale: Array,
    zero_point: Array | None,
    *,
    storage: ElementType,
    axis: int | None,
    block: int | None,
    compute: ElementType,
    saturate: bool = True,
) -> Array:
    """Codes of `x`: ``saturate(round_half_even(x / scale) + zero_point)``.

    Parameters
    ----------
    x : array
        float32, float16, bfloat16 or int32, any shape.
    scale, zero_point : array
        Shape [] or [1] per tensor, [D] per axis, that of `x` with ``ceil(D / block)`` at `axis` when blocked; zero point None
        for none, else of `storage`. The value of a float8 zero point is ignored; a float4 or float6 one is added before the
        conversion, so that even +0.0 turns a quotient of -0.0 into +0.0.
    storage : ElementType
        Type of the codes.
    axis, block : int or None
        `axis` None: per tensor. `block` None: per axis. `block` may exceed the axis and need not divide it.
    compute : ElementType
        Type of the division; `x` and `scale` are converted to it first. float8e8m0 stands for float32, since no implementation
        divides in it, and int32 for the true quotient in float64.
    saturate : bool
        For float8 storage; all other types saturate always.

    Returns
    -------
    array of ``storage.numpy``, shape of `x`
        Into integers infinities saturate and NaN, 0/0 included, gives the lowest code.

    Raises
    ------
    QdqtoolError
        The parameters do not fit the data.

    Notes
    -----
    Rules of ``QuantizeLinear`` (opset 28), and of ONNX Runtime 1.32 where they are silent.
    """
    require_fit(x.shape, scale, zero_point, axis, block)
    with np.errstate(all="ignore"):
        quotient = _divide(x, spread(scale, x.shape, axis, block), compute)
        zero = None if zero_point is None else spread(zero_point, x.shape, axis, block)
        if storage.integer:
            return _nearest_code(quotient, zero, storage)
        if zero is not None and storage not in dtypes.FLOAT8:
            quotient = cast(np.asarray(quotient.astype(np.float32) + zero.astype(np.float32)), dtypes.of_numpy(quotient.dtype))
        return cast(quotient, storage, saturate=saturate)


def _divide(x: Array, scale: Array, compute: ElementType) -> Array:
    if compute is dtypes.INT32:
        return np.asarray(x.astype(np.float64) / scale.astype(np.float64))
    compute = dtypes.FLOAT if compute is dtypes.FLOAT8E8M0 else compute
    dividend, divisor = (cast(v, compute).astype(np.float32) for v in (x, scale))
    # A float32 quotient of two float16 or bfloat16 numbers, rounded again, is their correctly rounded quotient.
    return cast(np.asarray(dividend / divisor), compute)


def _nearest_code(quotient: Array, zero: Array | None, storage: ElementType) -> Array:
    offset = 0.0 if zero is None else zero.astype(np.float64)
    codes = np.clip(np.rint(quotient.astype(np.float64)), storage.low - offset, storage.high - offset) + offset
    return np.where(np.isnan(codes), storage.low, codes).astype(np.int64).astype(storage.numpy)
