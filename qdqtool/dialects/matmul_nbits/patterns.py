"""Patterns that are a product with dequantized weights, and the same with fewer columns for a probe."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qdqtool import packed
from qdqtool.expressions import Const, Expr, Op, Runtime, Step, is_const
from qdqtool.packed import as_const
from qdqtool.quantization import Blocked, PerAxis


@dataclass(frozen=True, slots=True)
class Pattern:
    """A product with a dequantized matrix, read from a pattern; `along` is the axis of the step that K lies along."""

    a: Expr
    step: Step
    along: int
    bias: Expr | None


def pattern(expr: Expr, *, biased: bool) -> Pattern | None:
    match expr:
        case Op("Add", (Op("MatMul") as product, bias)) | Op("Add", (bias, Op("MatMul") as product)) if biased:
            found = pattern(product, biased=False)
            return None if found is None else replace(found, bias=bias)
        case Op("MatMul", (a, b)) if a is not None and not is_const(a):
            return _matrix(a, b, turned=False, bias=None)
        case Op("Gemm", (a, b, *rest)) if a is not None and not is_const(a):
            attributes = dict(expr.attributes)
            plain = all(attributes.get(name, 1.0) == 1.0 for name in ("alpha", "beta")) and not attributes.get("transA", 0)
            return _matrix(a, b, turned=bool(attributes.get("transB", 0)), bias=rest[0] if rest else None) if plain else None
    return None


def _matrix(a: Expr, b: Expr | None, *, turned: bool, bias: Expr | None) -> Pattern | None:
    while isinstance(b, Op) and b.op == "Transpose":
        turned ^= dict(b.attributes).get("perm", (1, 0)) == (1, 0)
        b = b.inputs[0]
    if not isinstance(b, Step) or b.meaning.kind != "dequantize" or not is_const(b.x) or len(b.x.shape) != 2:
        return None
    return Pattern(a, b, 1 if turned else 0, bias)


def narrowed(expr: Expr, limit: int) -> Expr:
    found = pattern(expr, biased=True)
    if found is None:
        return expr
    shape, axis = as_const(found.step.x).shape, 1 - found.along
    count = min(shape[axis], max(1, limit // shape[found.along]))
    return _rebuilt(expr, found, _narrowed_step(found.step, axis, count), count)


def _narrowed_step(step: Step, axis: int, count: int) -> Step:
    x = packed.first(as_const(step.x), axis, count)

    def part(const: Const) -> Const:
        match step.meaning.granularity:
            case Blocked():
                return packed.first(const, axis, count)
            case PerAxis(own) if own == axis:
                return packed.first(const, 0, count)
        return const

    zero = None if step.zero_point is None else part(as_const(step.zero_point))
    return replace(step, x=x, scale=part(as_const(step.scale)), zero_point=zero, shape=x.shape)


def _rebuilt(expr: Expr, whole: Pattern, step: Step, count: int) -> Expr:
    """The pattern around a narrower step."""
    if expr is whole.step:
        return step
    if expr is whole.a and isinstance(expr, Runtime):
        return Runtime(expr.name, expr.dtype or step.dtype, expr.shape or (None, as_const(step.x).shape[whole.along]))
    if expr is whole.bias:
        return narrowed_bias(expr, count)
    if not isinstance(expr, Op) or expr is whole.a:
        return expr
    return replace(expr, inputs=tuple(None if i is None else _rebuilt(i, whole, step, count) for i in expr.inputs), shape=None)


def narrowed_bias(bias: Expr, count: int) -> Expr:
    """The first elements of a constant one; one of the run is made shorter."""
    if is_const(bias):
        return packed.first(bias, len(bias.shape) - 1, count) if bias.shape else bias
    return replace(bias, shape=(count,)) if isinstance(bias, Runtime) else bias
