"""A product with dequantized weights as a MatMulNBits node."""

from __future__ import annotations

from qdqtool import dtypes, packed, repeated
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.matmul_nbits.patterns import Pattern, pattern
from qdqtool.dialects.matmul_nbits.weights import BIAS, DOMAIN, LAYOUT, LEVEL, SIGN
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Const, Expr, Op, cast, is_const, reshape
from qdqtool.packed import as_const, shaped
from qdqtool.quantization import Blocked, PerAxis, PerTensor

REALS = (dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16)


def fuse(expr: Expr, asking: Asking) -> Saying | Impossible | None:
    found = pattern(expr, biased=asking.remark(BIAS) is not None)
    if found is None:
        return None
    step, real = found.step, found.step.meaning.expressed
    reasons = _unfit(found)
    weights = None if reasons else _blocks(found)
    if reasons or weights is None or real is None:
        return Impossible(reasons or ("its scales follow K otherwise than in blocks of 16, 32, 64 ...",))
    scale, zero, block = weights
    codes = as_const(step.x) if found.along else packed.turned(as_const(step.x))
    n, k = codes.shape
    attributes = {"K": k, "N": n, "bits": codes.dtype.bits, "block_size": block, **_level(asking)}
    rows = packed.packed(codes, (n, -(-k // block), block * codes.dtype.bits // 8), 0, zero)
    inputs = [found.a, rows, scale, _packed_zeros(codes, scale, zero), None, None if found.bias is None else reshape(found.bias, (n,))]
    while inputs[-1] is None:
        inputs.pop()
    op = Op("MatMulNBits", tuple(inputs), tuple(sorted(attributes.items())), real, expr.shape, DOMAIN)
    return Saying((Way(op, Exactness.ROUNDING, packed.BOUNDS[real]),), step.meaning, _remarks(found, block))


def _level(asking: Asking) -> dict[str, int]:
    """What the operator had before it was split, if anything."""
    level = asking.remark(LEVEL)
    return {} if level is None else {"accuracy_level": int(level)}


def _remarks(found: Pattern, block: int) -> tuple[tuple[str, str | None], ...]:
    storage = as_const(found.step.x).dtype
    return (
        (LEVEL, None),
        (BIAS, None),
        (LAYOUT, "transposed" if found.along else None),
        (SIGN, "signed" if storage.kind == "int" and found.step.zero_point is not None else None),
        (repeated.SCALES, repeated.remark(found.step.meaning.granularity, block)),
    )


def _packed_zeros(codes: Const, scale: Const, zero: Const | None) -> Const | None:
    """None where the middle of the range is meant."""
    if zero is not None:
        return packed.packed_zeros(zero)
    return None if codes.dtype.kind == "int" else packed.no_zeros(scale.shape[0], scale.shape[1], codes.dtype)


def _unfit(found: Pattern) -> tuple[str, ...]:
    said, a, n = found.step.meaning, found.a, as_const(found.step.x).shape[1 - found.along]
    storage = said.storage
    reasons = []
    if storage not in (*packed.UNSIGNED.values(), *packed.SIGNED.values()):
        reasons.append(f"MatMulNBits has no {storage} weights")
    if said.expressed not in REALS or (said.scale_type is not said.expressed and said.expressed is not dtypes.FLOAT):
        reasons.append(f"MatMulNBits has no {said.expressed} of {said.scale_type} scales")
    if not is_const(found.step.scale) or not (found.step.zero_point is None or is_const(found.step.zero_point)):
        reasons.append("its scales or zero points are not constant")
    if a.shape is not None and len(a.shape) < 2:
        reasons.append("it multiplies a vector")
    if found.bias is not None and found.bias.shape != (n,) and not (is_const(found.bias) and found.bias.shape == (1, n)):
        reasons.append("its bias is not known to be a vector")
    return tuple(reasons)


def _blocks(found: Pattern) -> tuple[Const, Const | None, int] | None:
    """Scales and zero points ``[N, blocks]`` and the block size; None when the granularity has no such form."""
    step = found.step
    k = as_const(step.x).shape[found.along]
    scale = as_const(cast(step.scale, step.meaning.expressed)) if step.meaning.expressed is not None else as_const(step.scale)
    parts = [scale] if step.zero_point is None else [scale, as_const(step.zero_point)]
    match step.meaning.granularity:
        case Blocked(axis, old) if axis == found.along:
            block = _block(old, k)
            spread = [_reblocked(p if found.along else packed.turned(p), min(old, k), block, k) for p in parts] if block else []
        case PerAxis(axis) if axis != found.along:
            block = repeated.block_of(k)
            spread = [_repeated(shaped(p, (p.shape[0], 1)), -(-k // block)) for p in parts]
        case PerTensor():
            block, n = repeated.block_of(k), as_const(step.x).shape[1 - found.along]
            spread = [packed.repeated(shaped(p, ()), (n, -(-k // block))) for p in parts]
        case _:
            return None
    return (spread[0], spread[1] if len(spread) > 1 else None, block) if spread else None


def _block(old: int, k: int) -> int:
    """The largest power of two that blocks of that size are made of; 0 when it is less than 16."""
    if old >= k and old & (old - 1):
        return repeated.block_of(k)
    power = old & -old
    return power if power >= 16 else 0


def _reblocked(const: Const, old: int, new: int, k: int) -> Const:
    count = -(-k // new)
    if const.shape[1] == count:
        return const
    return Computed("reblock", (const,), (1, old, new, count), const.dtype, (const.shape[0], count))


def _repeated(const: Const, count: int) -> Const:
    return packed.repeated(const, (const.shape[0], count))
