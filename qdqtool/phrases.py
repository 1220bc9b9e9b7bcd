"""Small pieces of arithmetic that several lowerings need, in the spelling of a given ai.onnx opset."""

from __future__ import annotations

from math import gcd, prod

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Computed, Expr, Literal, Op, Step, binary, cast, is_const, known, literal, reshape
from qdqtool.quantization import Blocked, PerAxis, PerTensor

MAGIC = 12582912.0
"""1.5 * 2**23: adding and subtracting it rounds a float32 of magnitude below 2**22 to the nearest even integer."""


def clip(x: Expr, low: float, high: float, opset: int) -> Op:
    """Clip with its bounds as inputs from opset 11 on, as attributes before."""
    assert x.dtype is not None
    if opset < 11:
        return Op("Clip", (x,), (("max", float(high)), ("min", float(low))), x.dtype, x.shape)
    return Op("Clip", (x, literal(low, x.dtype), literal(high, x.dtype)), (), x.dtype, x.shape)


def cut(x: Expr, length: int, opset: int) -> Op:
    """The first `length` elements along the last axis."""
    assert x.dtype is not None
    assert x.shape is not None
    last, shape = len(x.shape) - 1, (*x.shape[:-1], length)
    if opset < 10:
        return Op("Slice", (x,), (("axes", (last,)), ("ends", (length,)), ("starts", (0,))), x.dtype, shape)
    bounds = (literal([value], dtypes.INT64) for value in (0, length, last))
    return Op("Slice", (x, *bounds), (), x.dtype, shape)


def round_even(x: Expr, opset: int) -> Expr:
    """Nearest even integer; below opset 11, which has no Round, for magnitudes below 2**22 only."""
    assert x.dtype is not None
    if opset >= 11:
        return Op("Round", (x,), (), x.dtype, x.shape)
    magic = literal(MAGIC, dtypes.FLOAT)
    return binary("Sub", binary("Add", x, magic), magic)


def scalar(parameter: Expr) -> Expr:
    """A per-tensor parameter as a rank-0 tensor where its shape is known."""
    if parameter.shape == () or parameter.shape is None:
        return parameter
    return reshape(parameter, ())


def spread(parameter: Expr, step: Step) -> Expr | None:
    """A scale or zero point shaped to broadcast against ``grouped(x)``; None when shapes are not known well enough."""
    match step.meaning.granularity:
        case PerTensor():
            return _of_tensor(parameter, step)
        case PerAxis(axis) if step.x.shape is not None and axis >= 0:
            length = parameter.shape[0] if parameter.shape else None
            return reshape(parameter, (-1 if length is None else length, *(1,) * (len(step.x.shape) - axis - 1)))
        case Blocked():
            sizes = groups(step)
            shape = known(parameter.shape)
            if sizes is None or shape is None:
                return None
            pre, count, _, post = sizes
            return reshape(_reblocked(parameter, step, count), (pre, count, 1, post))
    return None


def _of_tensor(parameter: Expr, step: Step) -> Expr | None:
    """One value for all: as it is where it broadcasts, with rank 0 where x may have rank 0."""
    if parameter.shape == () or step.x.shape not in (None, ()):
        return scalar(parameter)
    return None if parameter.shape is None and step.x.shape is None else reshape(parameter, ())


def grouped(x: Expr, step: Step) -> Expr | None:
    """`x` shaped ``[pre, blocks, block, post]`` for a blocked step, as it is otherwise."""
    if not isinstance(step.meaning.granularity, Blocked):
        return x
    sizes = groups(step)
    return None if sizes is None else reshape(x, sizes)


def ungrouped(y: Expr, step: Step) -> Expr:
    """Back from ``grouped``."""
    shape = known(step.shape)
    return y if not isinstance(step.meaning.granularity, Blocked) or shape is None else reshape(y, shape)


def groups(step: Step) -> tuple[int, int, int, int] | None:
    """``(pre, blocks, block, post)`` of a blocked step; a ragged last block is avoided by smaller blocks."""
    where, shape = step.meaning.granularity, known(step.x.shape)
    if not isinstance(where, Blocked) or shape is None or 0 in shape:
        return None
    length = shape[where.axis]
    block = length if where.block >= length else gcd(length, where.block)
    return prod(shape[: where.axis]), length // block, block, prod(shape[where.axis + 1 :])


def _reblocked(parameter: Expr, step: Step, count: int) -> Expr:
    where = step.meaning.granularity
    assert isinstance(where, Blocked)
    shape = known(parameter.shape)
    assert shape is not None
    if shape[where.axis] == count:
        return parameter
    return reblock(parameter, where.axis, where.block, step.x.shape[where.axis] // count, count)  # type: ignore[index,operator]


def reblock(parameter: Expr, axis: int, old: int, new: int, count: int) -> Expr:
    """A scale or zero point repeated for smaller blocks, at run time by a Gather."""
    assert parameter.shape is not None
    shape = (*parameter.shape[:axis], count, *parameter.shape[axis + 1 :])
    if is_const(parameter):
        return Computed("reblock", (parameter,), (axis, old, new, count), parameter.dtype, tuple(d or 0 for d in shape))
    assert parameter.dtype is not None
    indices = literal([k * new // old for k in range(count)], dtypes.INT64)
    return Op("Gather", (parameter, indices), (("axis", axis),), parameter.dtype, shape)


def quotient(step: Step) -> Expr | None:
    """``x / scale`` of a quantize step as float32, rounded to the step's compute type, shaped as ``grouped``.

    A float32 division rounded to float16 or bfloat16 equals the division in that type.
    """
    compute = step.meaning.compute
    if compute is None or step.x.dtype is None or step.scale.dtype is None:
        return None
    x = grouped(narrowed(step.x, compute), step)
    scale = spread(narrowed(step.scale, compute), step)
    if x is None or scale is None:
        return None
    if is_one(step.scale) and compute is dtypes.FLOAT:
        return x
    divided = binary("Div", x, scale)
    return divided if compute is dtypes.FLOAT else cast(cast(divided, compute), dtypes.FLOAT)


def is_one(scale: Expr) -> bool:
    """A new scale of 1, as divide-first writes it."""
    return isinstance(scale, Literal) and scale.shape == () and bool(scale.array == 1)


def narrowed(x: Expr, compute: ElementType) -> Expr:
    """`x` rounded to `compute`, held in float32."""
    return cast(x if x.dtype is dtypes.FLOAT and compute is dtypes.FLOAT else cast(x, compute), dtypes.FLOAT)


def centred(step: Step) -> Expr | None:
    """``int32(q - z)`` shaped like q; None when z cannot be broadcast here."""
    if step.zero_point is None:
        return cast(step.x, dtypes.INT32)
    if is_const(step.x) and is_const(step.zero_point):
        return _shifted(step)
    if isinstance(step.meaning.granularity, Blocked):
        return None
    zero = spread(cast(step.zero_point, dtypes.INT32), step)
    return None if zero is None else binary("Sub", cast(step.x, dtypes.INT32), zero)


def _shifted(step: Step) -> Expr | None:
    x, zero = step.x, step.zero_point
    assert is_const(x)
    assert is_const(zero)
    place: tuple[int, int] | None
    match step.meaning.granularity:
        case PerTensor():
            place = None
        case PerAxis(axis):
            place = (axis, 1)
        case Blocked(axis, block):
            place = (axis, block)
        case _:
            return None
    return Computed("subtract", (x, zero), (place,), dtypes.INT32, x.shape)
