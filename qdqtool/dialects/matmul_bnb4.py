"""MatMulBnb4: a MatMul whose weights are codes of bitsandbytes, FP4 or NF4, in blocks of the matrix read row by row.

Source: operator schema and CPU kernel of ONNX Runtime 1.32, executed. ``W[n, k] = table[code] * absmax[(n * K + k) // block]``; of the two
codes in a byte the first has the high bits. The levels lie on no even grid, so no dequantize says them: it becomes a look-up of each byte
in a table of pairs. The bytes stay as they are stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

import numpy as np

from qdqtool import dtypes, packed
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import (
    Attribute,
    Computed,
    Const,
    Expr,
    Literal,
    Op,
    Shape,
    binary,
    cast,
    is_const,
    literal,
    reshape,
    run_time_cast,
)
from qdqtool.quantization import Blocked, Meaning

NAME = "matmulbnb4"
DOMAIN = "com.microsoft"
OPERATORS = ((DOMAIN, "MatMulBnb4"),)
LAST: tuple[str, ...] = ()
INNER: tuple[str, ...] = ()

FP4 = (0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4, 0, -1 / 192, -2 / 3, -1, -1 / 3, -1 / 2, -1 / 6, -1 / 4)
NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334),
    *(-0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)


@dataclass(frozen=True, slots=True)
class Weights:
    """``[N, K]``: bytes, one scale for each block, and the levels."""

    n: int
    k: int
    block: int
    levels: tuple[float, ...]
    data: Const
    scale: Const

    @property
    def size(self) -> int:
        return self.n * self.k


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    a, _, scale = (*inputs, *(None,) * 3)[:3]
    n = attributes.get("N")
    shape = (*a.shape[:-1], n) if a is not None and a.shape and isinstance(n, int) else None
    return None if scale is None else scale.dtype, shape


def meaning(op: Op) -> Meaning | None:
    attributes = dict(op.attributes)
    k, block = attributes.get("K"), attributes.get("block_size")
    whole = isinstance(k, int) and isinstance(block, int) and block > 0 and k % block == 0
    return Meaning("dequantize", dtypes.UINT4, op.dtype, op.dtype, Blocked(1, block) if whole and isinstance(block, int) else None)


def read(op: Op) -> Weights | Impossible:
    attributes, (a, data, scale) = dict(op.attributes), (*op.inputs, *(None,) * 3)[:3]
    n, k, block, kind = (attributes.get(name) for name in ("N", "K", "block_size", "quant_type"))
    if not (isinstance(n, int) and isinstance(k, int) and isinstance(block, int) and n > 0 and k > 0):
        return Impossible(("N, K or block_size is missing",))
    if block < 16 or block & (block - 1) or kind not in (0, 1):
        return Impossible((f"MatMulBnb4 has no blocks of {block}, or no codes of kind {kind}",))
    if not attributes.get("transB", 1):
        return Impossible(("its weights are [K, N] (transB 0), which only training uses",))
    if not is_const(data) or not is_const(scale):
        return Impossible(("its weights or scales are not constant here",))
    if data.dtype is not dtypes.UINT8 or scale.dtype not in packed.BOUNDS:
        return Impossible((f"MatMulBnb4 has no weights of {data.dtype} with scales of {scale.dtype}",))
    if a is not None and a.shape is not None and (not a.shape or a.shape[-1] not in (None, k)):
        return Impossible((f"its input has the shape {list(a.shape)}, and K is {k}",))
    wanted = {"weights": (data, -(-n * k // 2)), "scales": (scale, -(-n * k // block))}
    wrong = tuple(f"its {what} have the shape {list(const.shape)}" for what, (const, size) in wanted.items() if prod(const.shape) != size)
    return Impossible(wrong) if wrong else Weights(n, k, block, NF4 if kind else FP4, data, scale)


def split(op: Op, asking: Asking) -> Saying | Impossible:
    a, found = (*op.inputs, None)[0], read(op)
    if isinstance(found, Impossible) or a is None:
        return found if isinstance(found, Impossible) else Impossible(("it multiplies nothing",))
    said = meaning(op)
    assert said is not None
    matrix = cast(reshape(_values(found), (found.n, found.k)), op.dtype)
    turned = Op("Transpose", (matrix,), (("perm", (1, 0)),), op.dtype, (found.k, found.n))
    a = replace(a, dtype=op.dtype) if a.dtype is None and not is_const(a) else a
    product = Op("MatMul", (a, turned), (), op.dtype, op.shape)
    return Saying((Way(product, Exactness.ROUNDING, packed.BOUNDS[op.dtype]),), said)


def _values(weights: Weights) -> Expr:
    """All weights in float32, one after the other; where the last block is short, its bytes are filled up."""
    count = -(-weights.size // weights.block)
    padded = count * weights.block
    data = weights.data
    if padded != weights.size:
        data = Computed("regroup", (data,), (1, prod(data.shape), 1, weights.block // 2), data.dtype, (count, weights.block // 2))
    pairs = Op("Gather", (_pairs(weights.levels), run_time_cast(data, dtypes.INT32)), (("axis", 0),), dtypes.FLOAT, (*data.shape, 2))
    scaled: Expr = binary("Mul", reshape(pairs, (count, weights.block)), run_time_cast(reshape(weights.scale, (count, 1)), dtypes.FLOAT))
    if padded == weights.size:
        return scaled
    ends = (literal([end], dtypes.INT64) for end in (0, weights.size))
    return Op("Slice", (reshape(scaled, (padded,)), *ends), (), dtypes.FLOAT, (weights.size,))


def _pairs(levels: tuple[float, ...]) -> Literal:
    """What each byte stands for."""
    codes, table = np.arange(256), np.array(levels, np.float32)
    return literal(np.stack([table[codes >> 4], table[codes & 15]], -1), dtypes.FLOAT)


def fuse(expr: Expr, asking: Asking) -> None:
    """Nothing: the levels of a look-up are not judged."""


def narrowed(expr: Expr, limit: int) -> Expr:
    """As many rows as fill whole blocks."""
    found = read(expr) if isinstance(expr, Op) else None
    if not isinstance(found, Weights) or not isinstance(expr, Op) or found.size <= limit:
        return expr
    together = found.block // gcd(found.block, found.k)
    count = max(1, limit // (found.k * together)) * together
    if count >= found.n:
        return expr
    parts = [(found.data, count * found.k // 2), (found.scale, count * found.k // found.block)]
    data, scale = (packed.first(packed.shaped(const, (prod(const.shape),)), 0, size) for const, size in parts)
    attributes = tuple((name, count if name == "N" else value) for name, value in expr.attributes)
    return replace(expr, inputs=(expr.inputs[0], data, scale), attributes=attributes, shape=None)
