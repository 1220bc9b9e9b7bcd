"""Operators on integer codes and what they mean: operands dequantized, results quantized, products scaled; shared by dialects."""

from __future__ import annotations

from dataclasses import replace

from qdqtool import dtypes, packed
from qdqtool.expressions import (
    Attribute,
    Computed,
    Const,
    Expr,
    Op,
    Runtime,
    Shape,
    Step,
    binary,
    elements,
    is_const,
    reshape,
    run_time_cast,
)
from qdqtool.quantization import Granularity, Meaning, PerAxis, PerTensor

ONE: tuple[Shape, ...] = ((), (1,))
"""Shapes of a parameter for all elements."""


class Unsayable(Exception):
    """Why an operator has no steps, or steps no operator."""


def dequantized(x: Expr, scale: Expr, zero: Expr | None, axis: int | None) -> Step:
    """`x` dequantized, per tensor or along `axis`."""
    if scale.dtype is None or scale.shape is None:
        raise Unsayable("type or rank of its scales is not known here")
    if isinstance(x, Runtime) and x.dtype is None:
        x = replace(x, dtype=None if zero is None else zero.dtype)
    if x.dtype is None:
        raise Unsayable("the type of its codes is not known here")
    if zero is not None and zero.dtype not in (None, x.dtype):
        raise Unsayable(f"its zero point is {zero.dtype}, its codes are {x.dtype}")
    granularity, scale, zero = _parameters(x, scale, zero, axis)
    said = Meaning("dequantize", x.dtype, scale.dtype, scale.dtype, granularity)
    return Step(said, x, scale, zero, scale.dtype, x.shape)


def _parameters(x: Expr, scale: Expr, zero: Expr | None, axis: int | None) -> tuple[Granularity, Expr, Expr | None]:
    """Scale and zero point in one shape."""
    if scale.shape in ONE and (zero is None or zero.shape in ONE):
        return PerTensor(), scalar(scale), None if zero is None else scalar(zero)
    lengths = {shape[-1] for shape in (scale.shape, None if zero is None else zero.shape) if shape and shape[-1] != 1}
    length = lengths.pop() if len(lengths) == 1 else None
    if axis is None or length is None or (zero is not None and zero.shape is None):
        raise Unsayable("its scales or zero points are neither for the whole tensor nor for each of its channels")
    if x.shape is not None and not -len(x.shape) <= axis < len(x.shape):
        raise Unsayable(f"it has no axis {axis}")
    if axis < 0 and x.shape is None:
        raise Unsayable("the rank of what its scales belong to is not known here")
    own = axis % len(x.shape) if x.shape is not None else axis
    if x.shape is not None and x.shape[own] not in (None, length):
        raise Unsayable(f"it has {length} scales or zero points for {x.shape[own]} channels")
    return PerAxis(own), vector(scale, length), None if zero is None else vector(zero, length)


def scalar(parameter: Expr) -> Expr:
    """A parameter for all; one of the run keeps its shape, which may be ``[1]``."""
    return reshape(parameter, ()) if is_const(parameter) else parameter


def vector(parameter: Expr, length: int) -> Expr:
    """A parameter for each of so many channels."""
    if parameter.shape == (length,):
        return parameter
    if parameter.shape is not None and parameter.shape not in ONE:
        if elements(parameter.shape) != length:
            raise Unsayable(f"its scales or zero points have the shape {list(parameter.shape)}")
        return reshape(parameter, (length,))
    if not is_const(parameter):
        raise Unsayable("a scale or zero point of the run is for the whole tensor, its other parameter for each channel")
    return packed.repeated(_const(reshape(parameter, (1,))), (length,))


def _const(expr: Expr) -> Const:
    assert is_const(expr)
    return expr


def quantized(x: Expr, scale: Expr, zero: Expr | None, storage: dtypes.ElementType) -> Step:
    """`x` quantized per tensor, divided in float32."""
    if scale.shape not in ONE or (zero is not None and zero.shape not in ONE):
        raise Unsayable("its result has a scale or zero point for each row")
    said = Meaning("quantize", storage, scale.dtype, scale.dtype, PerTensor(), dtypes.FLOAT)
    return Step(said, x, scalar(scale), None if zero is None else scalar(zero), storage, x.shape)


def product(a: Expr, b: Expr) -> Expr:
    """Two scales multiplied in their type, one of them for all."""
    many, one = (a, b) if a.shape not in ONE else (b, a)
    if is_const(many) and is_const(one):
        return Computed("product", (many, one), (), many.dtype, many.shape)
    return binary("Mul", many, one)


def bias(codes: Expr, scale: Expr) -> Step:
    """An int32 bias, whose scale is that of the sums it is added to."""
    if codes.dtype is not dtypes.INT32 or codes.shape is None or scale.shape is None:
        raise Unsayable("its bias is not of int32, or its shape is not known here")
    granularity: Granularity = PerTensor()
    if scale.shape not in ONE:
        codes = _spread(codes, scale.shape[0])
        granularity = PerAxis(len(codes.shape or ()) - 1)
    else:
        scale = scalar(scale)
    return Step(Meaning("dequantize", dtypes.INT32, scale.dtype, scale.dtype, granularity), codes, scale, None, scale.dtype, codes.shape)


def _spread(codes: Expr, length: int | None) -> Expr:
    """One bias for several columns, which have scales of their own, as one for each."""
    assert codes.shape is not None
    if codes.shape and codes.shape[-1] == length:
        return codes
    if codes.shape and codes.shape[-1] != 1:
        raise Unsayable(f"its bias has the shape {list(codes.shape)}, its scales are {length}")
    if not is_const(codes) or length is None:
        raise Unsayable("its bias is of the run, and for several columns with scales of their own")
    return packed.repeated(codes, (*codes.shape[:-1], length))


def scaled(product_of: Op, left: Step, right: Step) -> Op:
    """A product of integers as the real number that it stands for, as kernels compute it."""
    assert left.dtype is not None
    inputs = run_time_cast(product_of, left.dtype), product(left.scale, right.scale)
    return Op("Mul", inputs, (), left.dtype, product_of.shape)


def integer_product(op: str, left: Step, right: Step, attributes: tuple[tuple[str, Attribute], ...], shape: Shape | None) -> Op:
    """The codes of two dequantized operands multiplied, each less its zero point."""
    inputs = [left.x, right.x, left.zero_point, right.zero_point]
    while inputs[-1] is None:
        inputs.pop()
    return Op(op, tuple(inputs), attributes, dtypes.INT32, shape)


def first(expr: Expr, axis: int, count: int) -> Expr:
    """The first so many indices of a constant, unless one element stands for all."""
    if not is_const(expr) or not expr.shape or expr.shape[axis] == 1:
        return expr
    return packed.first(expr, axis % len(expr.shape), count)
