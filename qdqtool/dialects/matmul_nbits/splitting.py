"""A MatMulNBits node as a MatMul with dequantized weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from qdqtool import dtypes, packed, repeated
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.matmul_nbits.weights import BIAS, LAYOUT, LEVEL, SIGN, Weights, operands, read
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Const, Expr, Op, Runtime, Step, binary, cast, literal, walk
from qdqtool.quantization import Blocked, Meaning, PerTensor


def split(op: Op, asking: Asking) -> Saying | Impossible:
    found, (a, *_, bias) = read(op), operands(op)
    if isinstance(found, Impossible) or a is None:
        return found if isinstance(found, Impossible) else Impossible(("it multiplies nothing",))
    if found.groups is not None and not _within(found, asking):
        return Impossible((f"its groups (g_idx) are not all among the {found.blocks} blocks",))
    if a.dtype is None and isinstance(a, Runtime):
        a = replace(a, dtype=op.dtype)
    ways = tuple(Way(_product(*pair, bias, op), _exactness(found), packed.BOUNDS[op.dtype]) for pair in _pairs(found, a, op.dtype, asking))
    level = dict(op.attributes).get("accuracy_level")
    remarks = (
        (LEVEL, None if level is None else str(level)),
        (BIAS, None if bias is None else "1"),
        (LAYOUT, None),
        (SIGN, None),
        (repeated.SCALES, None),
    )
    said = next(e.meaning for e in walk(ways[0].expr) if isinstance(e, Step))
    return Saying(ways, said, remarks)


def _within(weights: Weights, asking: Asking) -> bool:
    assert weights.groups is not None
    low, high = asking.fact("value_range", weights.groups)
    return bool(low >= 0 and high < weights.blocks)


def _product(a: Expr, weights: Expr, bias: Expr | None, op: Op) -> Expr:
    product = Op("MatMul", (a, weights), (), op.dtype, op.shape)
    return product if bias is None else Op("Add", (product, bias), (), op.dtype, op.shape)


def _pairs(found: Weights, a: Expr, real: ElementType, asking: Asking) -> Iterator[tuple[Expr, Expr]]:
    """What is multiplied, and ``[K, N]`` weights; with groups that can be put into blocks, K in that order."""
    layout = asking.layout or ("transposed" if asking.tied(found.rows) else asking.remark(LAYOUT) or "direct")
    order = None if found.groups is None or _broken(found) else _order(found, asking)
    if (found.groups is None or order is not None) and not _broken(found):
        step = _step(found, real, asking, order, transposed=layout == "transposed")
        yield _ordered(a, order), _transposed(step) if layout == "transposed" else step
    else:
        yield a, _difference(found, real)


def _broken(weights: Weights) -> bool:
    """Zero points of a float type, between the codes."""
    return weights.zero is not None and weights.zero.dtype is not dtypes.UINT8


def _order(weights: Weights, asking: Asking) -> Const | None:
    """The order of K in which groups are blocks; None when they have other sizes."""
    assert weights.groups is not None
    groups = np.asarray(asking.fact("numbers", weights.groups))
    order = np.argsort(groups, kind="stable")
    return literal(order, dtypes.INT64) if np.array_equal(groups[order], np.arange(weights.k) // weights.block) else None


def _ordered(a: Expr, order: Const | None) -> Expr:
    if order is None or a.dtype is None or _counts_up(order):
        return a
    axis = -1 if a.shape is None else len(a.shape) - 1
    return Op("Gather", (a, order), (("axis", axis),), a.dtype, a.shape)


def _counts_up(order: Const) -> bool:
    return order == literal(np.arange(order.shape[0]), dtypes.INT64)


def _exactness(weights: Weights) -> Exactness:
    return Exactness.ROUNDING if _judged_alike(weights) else Exactness.APPROXIMATE


def _judged_alike(weights: Weights) -> bool:
    """Not so with `g_idx` beside packed zero points, or for 2 and 8 bits: ONNX Runtime on CPU ignores one of the two, or runs neither."""
    packed_zeros = weights.zero is not None and weights.zero.dtype is dtypes.UINT8
    return weights.groups is None or (weights.bits == 4 and not packed_zeros)


def _step(weights: Weights, real: ElementType, asking: Asking, order: Const | None, *, transposed: bool) -> Step:
    """``[N, K]`` for a Transpose, else ``[K, N]``."""
    sign = asking.sign or asking.remark(SIGN) or ("signed" if weights.zero is None else "unsigned")
    storage = (packed.SIGNED if sign == "signed" else packed.UNSIGNED)[weights.bits]
    codes = packed.unpacked(weights.rows, weights.k, storage)
    if order is not None and not _counts_up(order):
        codes = Computed("gather", (codes, order), (1,), codes.dtype, codes.shape)
    scale, zero = weights.scale, _zeros(weights, storage, asking)
    if not transposed:
        codes, scale, zero = packed.turned(codes), packed.turned(scale), None if zero is None else packed.turned(zero)
    said = Meaning("dequantize", storage, real, scale.dtype, Blocked(1 if transposed else 0, weights.block))
    return repeated.once(Step(said, codes, scale, zero, real, codes.shape), asking)


def _zeros(weights: Weights, storage: ElementType, asking: Asking) -> Const | None:
    """Zero points ``[N, blocks]``; None where they are 0."""
    shape = (weights.n, weights.blocks)
    if weights.zero is not None:
        zero = packed.unpacked(weights.zero, weights.blocks, storage)
        return None if asking.fact("value_range", zero) == (0.0, 0.0) else zero
    return packed.repeated(literal(packed.middle(storage), storage), shape) if packed.middle(storage) else None


def _transposed(step: Step) -> Op:
    assert step.dtype is not None
    assert step.shape is not None
    return Op("Transpose", (step,), (("perm", (1, 0)),), step.dtype, step.shape[::-1])


def _difference(weights: Weights, real: ElementType) -> Expr:
    """``q * scale - zero * scale`` as ``[K, N]``, in float32; what belongs to a block is looked up at run time, so nothing grows."""
    codes = packed.turned(packed.unpacked(weights.rows, weights.k, packed.UNSIGNED[weights.bits]))
    scale = packed.turned(_wide(weights.scale))
    blocked = Blocked(0, weights.block) if weights.groups is None else PerTensor()
    factor: Const = scale if weights.groups is None else literal(1.0, dtypes.FLOAT)
    said = Meaning("dequantize", codes.dtype, dtypes.FLOAT, dtypes.FLOAT, blocked)
    values: Expr = Step(said, codes, factor, None, dtypes.FLOAT, codes.shape)
    groups: Const = weights.groups or literal(np.arange(weights.k) // weights.block, dtypes.INT64)
    if weights.groups is not None:
        values = binary("Mul", values, _looked_up(scale, groups, codes.shape))
    less = Computed("product", (scale, _float_zeros(weights)), (), dtypes.FLOAT, scale.shape)
    return cast(binary("Sub", values, _looked_up(less, groups, codes.shape)), real)


def _wide(const: Const) -> Const:
    return packed.as_const(cast(const, dtypes.FLOAT))


def _float_zeros(weights: Weights) -> Const:
    if weights.zero is None:
        return literal(1 << (weights.bits - 1), dtypes.FLOAT)
    stored = weights.zero
    if stored.dtype is dtypes.UINT8:
        stored = packed.unpacked(stored, weights.blocks, packed.UNSIGNED[weights.bits])
    return packed.turned(_wide(stored))


def _looked_up(table: Const, groups: Const, shape: tuple[int, ...]) -> Op:
    return Op("Gather", (table, groups), (("axis", 0),), table.dtype, shape)
