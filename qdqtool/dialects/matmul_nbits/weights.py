"""The weights of a MatMulNBits node: what its attributes and constants say, and fewer rows of them for a probe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from qdqtool import dtypes, packed
from qdqtool.dialects import Impossible
from qdqtool.expressions import Const, Expr, Op, Runtime, is_const, reshape

DOMAIN = "com.microsoft"

LEVEL, BIAS, LAYOUT, SIGN = "qdqtool.accuracy_level", "qdqtool.bias", "qdqtool.weights", "qdqtool.codes"
"""Remarks in the metadata of nodes: what MatMul and dequantize, or MatMulNBits, have no word for."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one operator: constants by rows of N, and what they say."""

    n: int
    k: int
    bits: int
    block: int
    rows: Const
    scale: Const
    zero: Const | None
    groups: Const | None

    @property
    def blocks(self) -> int:
        return -(-self.k // self.block)


def operands(op: Op) -> tuple[Expr | None, ...]:
    """A, weights, scales, zero points, groups and bias."""
    return (*op.inputs, *(None,) * 6)[:6]


def read(op: Op) -> Weights | Impossible:
    """The weights by rows of N, or why they cannot be told."""
    attributes = dict(op.attributes)
    n, k, block, bits = (*(attributes.get(name, 0) for name in ("N", "K", "block_size")), attributes.get("bits", 4))
    _, rows, scale, zero, groups, _ = operands(op)
    if not (isinstance(n, int) and isinstance(k, int) and isinstance(block, int) and min(n, k, block) > 0):
        return Impossible(("N, K or block_size is missing",))
    if not isinstance(bits, int) or bits not in packed.UNSIGNED:
        return Impossible((f"MatMulNBits has no weights of {bits} bits",))
    if attributes.get("weight_prepacked", 0):
        return Impossible(("its weights are laid out for one execution provider (weight_prepacked)",))
    if not (is_const(rows) and is_const(scale) and (zero is None or is_const(zero)) and (groups is None or is_const(groups))):
        return Impossible(("its weights, scales, zero points or groups are not constant here",))
    found = Weights(n, k, bits, block, rows, scale, zero, groups)
    wrong = _mistyped(found) or _misshapen(found) or _unfit(op, found)
    if wrong:
        return Impossible(wrong)
    return replace(found, rows=_by_rows(rows, n), scale=_by_rows(scale, n), zero=None if zero is None else _by_rows(zero, n))


def _mistyped(weights: Weights) -> tuple[str, ...]:
    types = [("weights", weights.rows, (dtypes.UINT8,)), ("scales", weights.scale, tuple(packed.BOUNDS))]
    if weights.zero is not None:
        types.append(("zero points", weights.zero, (dtypes.UINT8, *packed.BOUNDS)))
    return tuple(f"MatMulNBits has no {what} of {const.dtype}" for what, const, known in types if const.dtype not in known)


def _unfit(op: Op, weights: Weights) -> tuple[str, ...]:
    """What else it reads does not fit its weights."""
    a, *_, bias = operands(op)
    reasons = []
    if a is not None and a.shape is not None and (not a.shape or a.shape[-1] not in (None, weights.k)):
        reasons.append(f"its input has the shape {list(a.shape)}, and K is {weights.k}")
    if bias is not None and bias.shape is not None and (not bias.shape or bias.shape[-1] not in (None, weights.n)):
        reasons.append(f"its bias has the shape {list(bias.shape)}, and N is {weights.n}")
    return tuple(reasons)


def _misshapen(weights: Weights) -> tuple[str, ...]:
    n, blocks, bits = weights.n, weights.blocks, weights.bits
    sizes = [("weights", weights.rows, n * blocks * weights.block * bits // 8), ("scales", weights.scale, n * blocks)]
    if weights.zero is not None:
        sizes.append(("zero points", weights.zero, n * (-(-blocks * bits // 8) if weights.zero.dtype is dtypes.UINT8 else blocks)))
    wrong = [(what, const) for what, const, size in sizes if prod(const.shape) != size]
    if weights.groups is not None and weights.groups.shape != (weights.k,):
        wrong.append(("groups", weights.groups))
    return tuple(f"its {what} have the shape {list(const.shape)}" for what, const in wrong)


def _by_rows(const: Const, n: int) -> Const:
    """``[N, rest]``."""
    return packed.shaped(const, (n, prod(const.shape) // n))


def narrowed(op: Op, limit: int) -> Op:
    """The node with so many rows of N that its weights have about `limit` elements."""
    found = read(op)
    if isinstance(found, Impossible):
        return op
    count = min(found.n, max(1, limit // found.k))
    a, _, _, _, groups, bias = operands(op)
    rows = reshape(packed.first(found.rows, 0, count), (count, found.blocks, found.block * found.bits // 8))
    zero = None if found.zero is None else packed.first(found.zero, 0, count)
    bias = packed.first(bias, 0, count) if is_const(bias) else replace(bias, shape=(count,)) if isinstance(bias, Runtime) else bias
    if isinstance(a, Runtime):
        a = Runtime(a.name, a.dtype or op.dtype, a.shape or (None, found.k))
    attributes = tuple((name, count if name == "N" else value) for name, value in op.attributes)
    return replace(op, inputs=(a, rows, packed.first(found.scale, 0, count), zero, groups, bias), attributes=attributes, shape=None)
