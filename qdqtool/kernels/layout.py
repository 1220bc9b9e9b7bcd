"""Granularity on arrays: which shape scale and zero point must have, and how they spread over the data.

The rules are those of ``QuantizeLinear`` (opset 21) as ONNX Runtime enforces them; shape [1] is per tensor like shape [].
"""

from __future__ import annotations

import numpy as np

from qdqtool.errors import QdqtoolError
from qdqtool.kernels.sources import Array

Shape = tuple[int, ...]


def parameter_shape(shape: Shape, axis: int | None, block: int | None) -> Shape:
    """Shape of scale and zero point for data of `shape`; `axis` must lie in the rank."""
    if axis is None:
        return ()
    if block is None:
        return (shape[axis],)
    axis %= len(shape)
    return (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :])


def misfit(shape: Shape, scale: Shape, zero_point: Shape | None, axis: int | None, block: int | None) -> str:
    """Why parameters of these shapes do not fit data of `shape`; empty when they do.

    Parameters
    ----------
    shape, scale, zero_point : tuple of int
        Shapes of the data and of its parameters; `zero_point` None when there is none.
    axis : int or None
        Quantization axis, may be negative; None for per tensor.
    block : int or None
        Block length along `axis`; None for per axis.
    """
    rank = len(shape)
    if axis is not None and not -rank <= axis < rank:
        return f"axis {axis} is outside [{-rank}, {rank - 1}]"
    if block is not None and block < 1:
        return f"block size {block} is not positive"
    wanted = parameter_shape(shape, axis, block)
    allowed = ((), (1,)) if axis is None else (wanted,)
    for name, actual in (("scale", scale), ("zero point", zero_point)):
        if actual is not None and actual not in allowed:
            return f"{name} of shape {list(actual)} where {list(wanted)} is needed"
    return ""


def require_fit(shape: Shape, scale: Array, zero_point: Array | None, axis: int | None, block: int | None) -> None:
    """Raise QdqtoolError where `misfit` has a reason."""
    reason = misfit(shape, scale.shape, None if zero_point is None else zero_point.shape, axis, block)
    if reason:
        raise QdqtoolError("parameters-misfit", "scale or zero point does not fit the data", why=reason)


def spread(parameter: Array, shape: Shape, axis: int | None, block: int | None) -> Array:
    """`parameter`, of a shape that fits, so that it broadcasts against data of `shape`."""
    if axis is None:
        return parameter.reshape(())
    axis %= len(shape)
    if block is None:
        return parameter.reshape((1,) * axis + parameter.shape + (1,) * (len(shape) - axis - 1))
    # A block may be far longer than the axis; repeating it whole would waste memory.
    repeated = np.repeat(parameter, min(block, max(shape[axis], 1)), axis)
    return repeated[(slice(None),) * axis + (slice(shape[axis]),)]
