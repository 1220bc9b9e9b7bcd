"""How scales and zero points spread over elements, independent of shapes: factors of the flat index, outermost first.

``[(6, True), (4, False)]`` says that 24 elements have 6 values, each for 4 elements in a row. A granularity of one shape is a
granularity of another when their factors agree; two parameters that vary differently meet in the union.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import prod

from qdqtool.expressions import Computed, Const, Shape
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor

Factors = tuple[tuple[int, bool], ...]

STAND_INS = (1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117, 1000121)
"""Primes in the place of unknown dimensions: no parameter has such a size, so none can vary along them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A parameter with the factors it spreads over; its elements follow those that vary."""

    const: Const
    factors: Factors


def sizes_of(shape: Shape) -> tuple[int, ...]:
    """A shape with its unknown dimensions stood in for."""
    return tuple(STAND_INS[i % len(STAND_INS)] if d is None else d for i, d in enumerate(shape))


def of_granularity(where: Granularity | None, shape: Shape) -> Factors | None:
    """Factors of a granularity; None for ragged blocks, which have none."""
    sizes = sizes_of(shape)
    match where:
        case PerTensor():
            return ((prod(sizes), False),)
        case PerAxis(axis):
            return (prod(sizes[:axis]), False), (sizes[axis], True), (prod(sizes[axis + 1 :]), False)
        case Blocked(axis, block):
            unit = min(block, sizes[axis])
            if unit and sizes[axis] % unit == 0:
                return (prod(sizes[:axis]), True), (sizes[axis] // unit, True), (unit, False), (prod(sizes[axis + 1 :]), True)
    return None


def of_broadcast(parameter: tuple[int, ...], shape: Shape) -> Factors | None:
    """Factors of a parameter that broadcasts against `shape`; None when the result would have another shape."""
    sizes = sizes_of(shape)
    if len(parameter) > len(sizes):
        return None
    padded = (*(1,) * (len(sizes) - len(parameter)), *parameter)
    if any(p not in (1, s) for p, s in zip(padded, sizes, strict=True)):
        return None
    return tuple((s, p != 1) for p, s in zip(padded, sizes, strict=True))


def meet(shape: Shape | None, parts: Sequence[Part], *, widen: bool = True) -> tuple[Granularity, tuple[Const, ...]] | None:
    """The coarsest granularity of `shape` that holds all parameters, and each of them in its shape.

    With `widen` a parameter may also be repeated along what no parameter varies with.
    """
    if all(prod(p.const.shape) == 1 for p in parts):
        return PerTensor(), tuple(reshaped(p.const, ()) for p in parts)
    if shape is None or 0 in shape:
        return None
    sizes = _refined([p.factors for p in parts])
    if sizes is None:
        return None
    flags = [_flags(sizes, p.factors) for p in parts]
    union = [any(f) for f in zip(*flags, strict=True)]
    for varying in _widened(sizes, union, widen and None not in shape):
        where = _granularity(sizes_of(shape), _canonical(zip(sizes, varying, strict=True)))
        if where is not None:
            final = parameter_shape(where, sizes_of(shape))
            return where, tuple(_expanded(p.const, sizes, f, varying, final) for p, f in zip(parts, flags, strict=True))
    return None


def parameter_shape(where: Granularity, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the scale of whole blocks, of an axis, of a tensor."""
    match where:
        case PerAxis(axis):
            return (shape[axis],)
        case Blocked(axis, block):
            return tuple(-(-n // block) if d == axis else n for d, n in enumerate(shape))
    return ()


def reshaped(const: Const, shape: tuple[int, ...]) -> Const:
    """A constant in another shape; of several changes of shape the last counts."""
    while isinstance(const, Computed) and const.kernel == "reshape":
        const = const.args[0]
    return const if const.shape == shape else Computed("reshape", (const,), (shape,), const.dtype, shape)


def _refined(lists: Sequence[Factors]) -> tuple[int, ...] | None:
    """Sizes so fine that each list's factors are products of neighbours; None when boundaries cross."""
    bounds = sorted({prod(size for size, _ in factors[i:]) for factors in lists for i in range(len(factors) + 1)}, reverse=True)
    if any(a % b for a, b in pairwise(bounds)) or len({prod(s for s, _ in f) for f in lists}) != 1:
        return None
    return tuple(a // b for a, b in pairwise(bounds))


def _flags(sizes: tuple[int, ...], factors: Factors) -> list[bool]:
    found: list[bool] = []
    rest = iter(f for f in factors if f[0] != 1)
    left, flag = 1, False
    for size in sizes:
        if left == 1:
            left, flag = next(rest)
        found.append(flag)
        left //= size
    return found


def _widened(sizes: tuple[int, ...], union: list[bool], widen: bool) -> Iterator[list[bool]]:
    """The union, then with more factors varying, least growth first."""
    still = [i for i, varies in enumerate(union) if not varies] if widen else []
    sets = (c for n in range(len(still) + 1) for c in combinations(still, n))
    for more in sorted(sets, key=lambda c: prod(sizes[i] for i in c)):
        yield [varies or i in more for i, varies in enumerate(union)]


def _canonical(factors: Iterator[tuple[int, bool]] | zip[tuple[int, bool]] | Factors) -> Factors:
    """Neighbours of one kind merged, ones dropped."""
    merged: list[tuple[int, bool]] = []
    for size, varies in factors:
        if size == 1:
            continue
        if merged and merged[-1][1] == varies:
            merged[-1] = (merged[-1][0] * size, varies)
        else:
            merged.append((size, varies))
    return tuple(merged)


def _granularity(shape: tuple[int, ...], wanted: Factors) -> Granularity | None:
    still = [size for size, varies in wanted if not varies]
    block = still[0] if len(still) == 1 else 1
    axes = range(len(shape))
    candidates: list[Granularity] = [PerTensor(), *(PerAxis(a) for a in axes)]
    candidates += [Blocked(a, block) for a in reversed(axes) if len(still) < 2 and shape[a] % block == 0]
    for where in candidates:
        factors = of_granularity(where, shape)
        if factors is not None and _canonical(factors) == wanted:
            return where
    return None


def _expanded(const: Const, sizes: tuple[int, ...], own: list[bool], varying: list[bool], final: tuple[int, ...]) -> Const:
    narrow = tuple(s if f else 1 for s, f in zip(sizes, own, strict=True))
    wide = tuple(s if f else 1 for s, f in zip(sizes, varying, strict=True))
    if narrow != wide:
        const = Computed("expand", (reshaped(const, narrow),), (wide,), const.dtype, wide)
    return reshaped(const, final)
