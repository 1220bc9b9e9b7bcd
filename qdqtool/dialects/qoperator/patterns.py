"""Patterns that are an integer operator: a plain one between dequantize and quantize."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from qdqtool.dialects.qoperator.forms import FORMS, LAST_CHANNELS
from qdqtool.dialects.qoperator.plain import BEYOND, counts_beyond, turned
from qdqtool.expressions import Attribute, Expr, Op, Step
from qdqtool.integers import Unsayable

UNFUSED = ("MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QLinearReduceMean")
"""Made of nothing: products that give real numbers are better off in the form that ONNX Runtime fuses itself, and QLinearReduceMean has
no kernel on CPU."""

INTEGER: Mapping[str, str] = {form.plain: name for name, form in FORMS.items() if name not in UNFUSED}
"""The integer operator around each plain one."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What stands between dequantize and quantize.

    `last` tells that its channels are moved there and back, `relu` that a Relu comes after it.
    """

    name: str
    plain: Op
    operands: tuple[Expr | None, ...]
    given: Step | None
    last: bool = False
    relu: bool = False


def pattern(expr: Expr) -> Pattern | None:
    """A plain operator whose result is quantized, or a Gemm of two dequantized matrices whose result is real."""
    match expr:
        case Step(said, Op("Transpose", (Op() as plain,)) as back) if said.kind == "quantize":
            first = _untransposed(plain, back)
            last = INTEGER.get(plain.op, "") in LAST_CHANNELS
            return None if first is None or not last else _found(plain, (first, *plain.inputs[1:]), expr, last=True)
        case Step(said, Op("Relu", (Op() as plain,))) if said.kind == "quantize":
            found = _found(plain, plain.inputs, expr, last=False)
            return None if found is None else replace(found, relu=True)
        case Step(said, Op() as plain) if said.kind == "quantize":
            return _found(plain, plain.inputs, expr, last=False)
        case Op("Gemm", (Step(one), Step(other), *_)) if one.kind == other.kind == "dequantize":
            return _found(expr, expr.inputs, None, last=False)
    return None


def _found(plain: Op, operands: tuple[Expr | None, ...], given: Step | None, *, last: bool) -> Pattern | None:
    name = INTEGER.get(plain.op)
    return None if name is None or plain.domain else Pattern(name, plain, operands, given, last)


def _untransposed(plain: Op, back: Op) -> Expr | None:
    """What lies before the Transpose that moves channels to axis 1, if `back` moves them to the end again."""
    there, perm = plain.inputs[0] if plain.inputs else None, dict(back.attributes).get("perm")
    if not isinstance(there, Op) or there.op != "Transpose" or there.inputs[0] is None or not isinstance(perm, tuple) or len(perm) < 3:
        return None
    x, rank = there.inputs[0], len(perm)
    moved = {last: dict(turned(x, rank, last=last).attributes)["perm"] for last in (False, True)}
    return x if dict(there.attributes).get("perm") == moved[False] and perm == moved[True] else None


def attributes_of(found: Pattern, opset: int) -> tuple[tuple[str, Attribute], ...]:
    """The attributes of the integer operator; `opset` is that of the plain one."""
    given = dict(found.plain.attributes)
    if given.pop("beta", 1.0) != 1.0 and len(found.operands) > 2:
        raise Unsayable("its Gemm scales the bias (beta)")
    if found.name == "QLinearAveragePool" and counts_beyond(found.plain):
        raise Unsayable(BEYOND)
    if found.name == "QLinearAveragePool" and set(_numbers(given.pop("dilations", ()))) - {1}:
        raise Unsayable("its AveragePool is dilated")
    if found.name == "QLinearSoftmax":
        given = {"axis": -1 if opset >= 13 else 1, "opset": opset} | given
    return tuple(sorted((given | ({"channels_last": 1} if found.last else {})).items()))


def _numbers(value: Attribute) -> tuple[int | float, ...]:
    return value if isinstance(value, tuple) else ()
