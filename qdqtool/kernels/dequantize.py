"""Dequantize whole arrays."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.layout import require_fit, spread
from qdqtool.kernels.sources import Array


def dequantize(
    q: Array,
    scale: Array,
    zero_point: Array | None,
    *,
    expressed: ElementType,
    axis: int | None,
    block: int | None,
) -> Array:
    """Real values of the codes `q`: ``expressed(float32(q - zero_point) * float32(scale))``.

    Parameters
    ----------
    q : array
        Codes, any shape; an integer type of 32 bits or fewer (signed if 32), float8, float6 or float4.
    scale, zero_point : array
        Shapes as for `quantize`; scale float32, float16, bfloat16 or float8e8m0; zero point None or of the type of `q`.
    expressed : ElementType
        Type of the result; the scale is not rounded to it first.
    axis, block : int or None
        As for `quantize`.

    Returns
    -------
    array of ``expressed.numpy``, shape of `q`
        The difference is taken in int32, where it wraps, then rounded to float32; that of float codes in float32.

    Raises
    ------
    QdqtoolError
        The parameters do not fit the data.

    Notes
    -----
    As ONNX Runtime 1.32 and onnx.reference compute ``DequantizeLinear``; the text of opset 23, that the output type is also the
    precision of the product, is followed by neither.
    """
    require_fit(q.shape, scale, zero_point, axis, block)
    exact = np.int32 if dtypes.of_numpy(q.dtype).integer else np.float32
    with np.errstate(all="ignore"):
        steps = q.astype(exact)
        if zero_point is not None:
            steps = steps - spread(zero_point, q.shape, axis, block).astype(exact)
        product = steps.astype(np.float32) * spread(scale, q.shape, axis, block).astype(np.float32)
    return cast(np.asarray(product), expressed)
