"""Constants of packed codes, as ONNX Runtime's block-quantized operators hold them, from and to codes that ONNX has a type for.

A signed type stands for the unsigned codes less half their range, so a zero point in the middle is none.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound
from qdqtool.expressions import Computed, Const, Expr, is_const, literal, reshape

UNSIGNED = {2: dtypes.UINT2, 4: dtypes.UINT4, 8: dtypes.UINT8}
SIGNED = {2: dtypes.INT2, 4: dtypes.INT4, 8: dtypes.INT8}

BOUNDS = {dtypes.FLOAT: Bound(of_maximum=2.0**-19), dtypes.FLOAT16: Bound(of_maximum=2.0**-8), dtypes.BFLOAT16: Bound(of_maximum=2.0**-5)}
"""Of a product with equal weights: kernels add up in another order (16 ulps of float32), and keep float32 weights for float16 (4 ulps)."""


def middle(storage: ElementType) -> int:
    """The code that stands for the middle of the range of its unsigned type."""
    return 0 if storage.kind == "int" else 1 << (storage.bits - 1)


def unpacked(rows: Const, length: int, storage: ElementType) -> Const:
    """``[rows, bytes]`` of uint8 as ``[rows, length]`` codes."""
    return Computed("unpack_rows", (rows,), (storage.bits, length, storage), storage, (rows.shape[0], length))


def packed(codes: Const, shape: tuple[int, ...], fill: int, zeros: Const | None = None) -> Const:
    """``[rows, length]`` codes as bytes of that shape; what is left of a row is filled with a code, or its last zero point."""
    args = (codes,) if zeros is None else (codes, zeros)
    return Computed("pack_rows", args, (codes.dtype.bits, shape, fill), dtypes.UINT8, shape)


def packed_zeros(zeros: Const) -> Const:
    """Zero points ``[rows, blocks]`` as bytes, each row by itself."""
    rows, blocks = zeros.shape
    return packed(zeros, (rows, -(-blocks * zeros.dtype.bits // 8)), middle(zeros.dtype))


def no_zeros(rows: int, blocks: int, storage: ElementType) -> Const:
    """Zero points of 0, as bytes."""
    shape = (rows, -(-blocks * storage.bits // 8))
    return Computed("expand", (literal(0, dtypes.UINT8),), (shape,), dtypes.UINT8, shape)


def turned(const: Const) -> Const:
    """A matrix transposed; twice is once not."""
    if isinstance(const, Computed) and const.kernel == "transpose" and const.params == ((1, 0),):
        return const.args[0]
    if isinstance(const, Computed) and const.kernel == "unpack_rows":
        return replace(const, kernel="unpack_columns", shape=const.shape[::-1])
    return Computed("transpose", (const,), ((1, 0),), const.dtype, const.shape[::-1])


def repeated(const: Const, shape: tuple[int, ...]) -> Const:
    """A constant broadcast to a shape."""
    return const if const.shape == shape else Computed("expand", (const,), (shape,), const.dtype, shape)


def first(const: Const, axis: int, count: int) -> Const:
    """The first `count` indices along an axis."""
    if count >= const.shape[axis]:
        return const
    shape = (*const.shape[:axis], count, *const.shape[axis + 1 :])
    return Computed("window", (const,), (axis, ((0, count),)), const.dtype, shape)


def as_rows(const: Const) -> Const:
    """All axes but the last as one."""
    return shaped(const, (prod(const.shape[:-1]), const.shape[-1]))


def shaped(const: Const, shape: tuple[int, ...]) -> Const:
    """A constant in another shape."""
    return as_const(reshape(const, shape))


def as_const(expr: Expr | None) -> Const:
    """`expr`, which is a constant."""
    assert is_const(expr)
    return expr
