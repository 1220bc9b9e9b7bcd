"""What several raisings ask of an expression."""

from __future__ import annotations

from dataclasses import replace

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Computed, Const, Expr, Op, Step, is_const, known
from qdqtool.quantization import Granularity, Meaning, PerTensor
from qdqtool.raising import UNIT, UNITS, Context
from qdqtool.raising.layouts import Part, meet, of_broadcast, of_granularity, reshaped


def constant(expr: Expr | None) -> Const | None:
    """`expr` where it is a constant."""
    return expr if is_const(expr) else None


def operator(expr: Expr | None, name: str) -> Op | None:
    """`expr` where it is that operator of the main domain."""
    return expr if isinstance(expr, Op) and expr.op == name and not expr.domain else None


def number(expr: Expr | None, context: Context) -> float | None:
    """The value of a constant of one element."""
    const = constant(expr)
    if const is None or known(const.shape) not in ((), (1,)):
        return None
    low, high = context.fact("value_range", const)
    return float(low) if low == high else None


def bounds(clip: Op, context: Context) -> tuple[float, float] | None:
    """Both bounds of a Clip, inputs or attributes."""
    attributes = dict(clip.attributes)
    if len(clip.inputs) == 1:
        low, high = attributes.get("min"), attributes.get("max")
        return (float(low), float(high)) if isinstance(low, float) and isinstance(high, float) else None
    found = [number(e, context) for e in (*clip.inputs[1:3], None, None)[:2]]
    return None if found[0] is None or found[1] is None else (found[0], found[1])


INTEGERS = tuple(t for t in dtypes.ALL if t.integer and t.bits <= 16)


def ranged(found: tuple[float, float] | None) -> ElementType | None:
    """The integer type of 16 bits or fewer with exactly that range."""
    return next((t for t in INTEGERS if found == (t.low, t.high)), None)


def fits(const: Const, dtype: ElementType, context: Context) -> bool:
    """All elements are values of that integer type."""
    low, high = context.fact("value_range", const)
    return bool(dtype.low <= low and high <= dtype.high and (const.dtype.integer or context.fact("whole", const)))


def as_type(const: Const, dtype: ElementType) -> Const:
    """A constant whose elements fit, in another type; a cast that kept them is taken back."""
    while isinstance(const, Computed) and const.kernel in ("cast", "onnx_cast") and const.dtype is not dtype:
        inner = const.args[0]
        if const.kernel == "onnx_cast" and inner.dtype.bits > const.dtype.bits:
            break
        const = inner
    return const if const.dtype is dtype else Computed("cast", (const,), (dtype,), dtype, const.shape)


def is_unit(scale: Expr, context: Context) -> bool:
    """A scale of ones."""
    const = constant(scale)
    while isinstance(const, Computed) and const.kernel in ("reshape", "expand"):
        const = const.args[0]
    return const in UNITS.values() or (const is not None and number(const, context) == 1)


def is_marker(scale: Expr) -> bool:
    """The scale of ones that no model holds."""
    while isinstance(scale, Computed) and scale.kernel in ("reshape", "expand"):
        scale = scale.args[0]
    return scale in UNITS.values()


def plain_codes(q: Expr, expressed: ElementType = dtypes.FLOAT) -> Step:
    """The dequantize step that only changes the type of codes."""
    meaning = Meaning("dequantize", q.dtype, expressed, expressed, PerTensor())
    return Step(meaning, q, UNITS[expressed], None, expressed, q.shape)


def plain_rounding(x: Expr, storage: ElementType) -> Step:
    """The quantize step that only rounds and saturates."""
    meaning = Meaning("quantize", storage, dtypes.FLOAT, dtypes.FLOAT, PerTensor(), dtypes.FLOAT)
    return Step(meaning, x, UNIT, None, storage, x.shape)


def own_parts(step: Step, *, scale: bool = True) -> list[Part] | None:
    """Constant parameters of a step with their factors, the scale first; None when one is not constant or blocks are ragged."""
    wanted = [step.scale] if scale else []
    consts = [constant(e) for e in (*wanted, step.zero_point) if e is not None]
    if all(c is not None and c.shape in ((), (1,)) for c in consts):
        return [Part(c, ((1, False),)) for c in consts if c is not None]
    factors = None if step.shape is None else of_granularity(step.meaning.granularity, step.shape)
    return None if factors is None or None in consts else [Part(c, factors) for c in consts if c is not None]


def spread_part(const: Const, step: Step) -> Part | None:
    """A parameter that broadcasts against the elements of a step."""
    if const.shape == ():
        return Part(const, ((1, False),))
    factors = None if step.shape is None else of_broadcast(const.shape, step.shape)
    return None if factors is None else Part(const, factors)


def with_parameters(step: Step, scale: Part, zero: Part | None, *, widen: bool = True) -> Step | None:
    """The step with these parameters, in the granularity they have in common."""
    parts = [_on(p, step) for p in (scale, zero) if p is not None]
    met = meet(step.shape, parts, widen=widen)
    if met is None:
        return None
    where, consts = met
    return _replaced(step, where, consts[0], consts[1] if len(consts) > 1 else None)


def _on(part: Part, step: Step) -> Part:
    """One value for all elements has the factors of all elements."""
    if part.factors != ((1, False),) or step.shape is None:
        return part
    return Part(part.const, of_granularity(PerTensor(), step.shape) or part.factors)


def _replaced(step: Step, where: Granularity, scale: Const, zero: Const | None) -> Step:
    meaning = replace(step.meaning, granularity=where, scale_type=scale.dtype)
    return replace(step, meaning=meaning, scale=scale, zero_point=zero)


def regrouped(step: Step, shape: tuple[int, ...], *, widen: bool = True) -> Step | None:
    """The same step on elements in another shape; None when its codes or parameters cannot follow."""
    x, parts = in_shape(step.x, shape), own_parts(step)
    if x is None or parts is None:
        return None
    return with_parameters(replace(step, x=x, shape=shape), parts[0], parts[1] if len(parts) > 1 else None, widen=widen)


def in_shape(x: Expr, shape: tuple[int, ...]) -> Expr | None:
    """Codes in another shape: constants and steps follow, a run-time value only where it had that shape before a Reshape."""
    const = constant(x)
    if const is not None:
        return reshaped(const, shape)
    while (op := operator(x, "Reshape")) is not None and op.inputs[0] is not None:
        x = op.inputs[0]
        if known(x.shape) == shape:
            return x
    if isinstance(x, Step) and not is_const(x.x):
        return regrouped(x, shape)
    return None
