"""What a plan writes: frozen trees of steps, operators, constants and run-time values.

A constant is described, not held: `Stored` lies in the model, `Literal` is new and small, `Computed` is made by a kernel of
``kernels.recode`` from other constants, tile by tile, when the model is saved. Equal expressions are one tensor or one node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeGuard

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.quantization import Meaning

Shape = tuple[int | None, ...]
Attribute = int | float | str | tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A constant of the model: an initializer or a Constant node's value, by scope and name."""

    scope: tuple[str, ...]
    name: str
    dtype: ElementType
    shape: tuple[int, ...]

    def __hash__(self) -> int:
        return hash(self.name)  # which tells nearly all apart, and is asked for often


@dataclass(frozen=True, slots=True)
class Literal:
    """A new constant, given by its unpacked little-endian bytes."""

    data: bytes
    dtype: ElementType
    shape: tuple[int, ...]

    @property
    def array(self) -> np.ndarray[Any, Any]:
        return np.frombuffer(self.data, self.dtype.numpy).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Computed:
    """A new constant made by `kernel` from `args`; its hash is asked for often, and goes through all that it is made of."""

    kernel: str
    args: tuple[Const, ...]
    params: tuple[Any, ...]
    dtype: ElementType
    shape: tuple[int, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.kernel, self.args, self.params, self.shape)))

    def __hash__(self) -> int:
        return self._hash


Const = Stored | Literal | Computed


@dataclass(frozen=True, slots=True)
class Runtime:
    """A value that only a run of the model knows."""

    name: str
    dtype: ElementType | None
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class Step:
    """A quantize or dequantize; `dtype` is the type of its result, for a quantize the carrier of its codes."""

    meaning: Meaning
    x: Expr
    scale: Expr
    zero_point: Expr | None
    dtype: ElementType | None
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class Op:
    """Any other operator, or the one numbered `result` of its `results`."""

    op: str
    inputs: tuple[Expr | None, ...]
    attributes: tuple[tuple[str, Attribute], ...]
    dtype: ElementType
    shape: Shape | None
    domain: str = ""
    result: int = 0
    results: int = 1


Expr = Const | Runtime | Step | Op


def literal(values: Any, dtype: ElementType, shape: tuple[int, ...] | None = None) -> Literal:
    """A new constant from numbers or an array."""
    array = np.asarray(values).astype(dtype.numpy)
    array = array if shape is None else np.broadcast_to(array, shape)
    return Literal(np.ascontiguousarray(array).tobytes(), dtype, array.shape)


def is_const(expr: Expr | None) -> TypeGuard[Const]:
    return isinstance(expr, Const)


def known(shape: Shape | None) -> tuple[int, ...] | None:
    """The shape when every dimension is known."""
    return None if shape is None or any(d is None for d in shape) else tuple(d for d in shape if d is not None)


def elements(shape: Shape | None) -> int:
    """Number of elements, unknown dimensions counted as one."""
    return prod(d or 0 if d is not None else 1 for d in shape) if shape is not None else 1


def cast(x: Expr, to: ElementType) -> Expr:
    """`x` in another type: computed for a constant, a Cast for a run-time value, `x` itself when nothing changes."""
    if x.dtype is to:
        return x
    return Computed("cast", (x,), (to,), to, x.shape) if is_const(x) else run_time_cast(x, to)


def run_time_cast(x: Expr, to: ElementType) -> Expr:
    """`x` in another type by a Cast, so that a constant is stored as it is."""
    return x if x.dtype is to else Op("Cast", (x,), (("to", to.code),), to, x.shape)


def reshape(x: Expr, shape: tuple[int, ...]) -> Expr:
    """`x` in another shape of as many elements; one dimension of a run-time value may be -1."""
    if x.shape == shape:
        return x
    if is_const(x):
        return Computed("reshape", (x,), (shape,), x.dtype, shape)
    assert x.dtype is not None
    return Op("Reshape", (x, literal(shape, dtypes.INT64)), (), x.dtype, tuple(None if d < 0 else d for d in shape))


def binary(op: str, a: Expr, b: Expr) -> Op:
    """Elementwise `op` of two values of one type, the result shaped like the larger."""
    assert a.dtype is not None
    shape = a.shape if a.shape is not None and (b.shape is None or len(b.shape) <= len(a.shape)) else b.shape
    return Op(op, (a, b), (), a.dtype, shape)


def nbytes(const: Const) -> int:
    """Size of a constant in storage."""
    return const.dtype.nbytes(prod(const.shape))


def constants_of(expr: Expr) -> set[Const]:
    """Constants that the steps and operators of `expr` read, not those that these are computed from."""
    if is_const(expr):
        return {expr}
    return set[Const]().union(*(constants_of(part) for part in children(expr)))


def children(expr: Expr) -> Iterator[Expr]:
    """Direct operands."""
    match expr:
        case Step():
            yield from (e for e in (expr.x, expr.scale, expr.zero_point) if e is not None)
        case Op():
            yield from (e for e in expr.inputs if e is not None)
        case Computed():
            yield from expr.args
        case _:
            return


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything below it."""
    yield expr
    for child in children(expr):
        yield from walk(child)
