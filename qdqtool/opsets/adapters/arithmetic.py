"""Elementwise operators: broadcasting of several operands at 8, floats compared at 11, mixed powers at 12, remainders at 10 and 28."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def chain(draft: Draft) -> str | None:
    """Add broadcasts from opset 7 on."""
    names = list(draft.node.input)
    value = names[0]
    for number, name in enumerate(names[1:], 2):
        value = draft.add("Add", value, name, into=draft.output(0) if number == len(names) else "")
    return None


def same_shapes(draft: Draft) -> str | None:
    """Each operand is brought to the full shape by adding zeros."""
    shapes, dtype = [draft.static(i) for i in range(len(draft.node.input))], draft.type(0)
    if dtype is None or any(s is None for s in shapes):
        return f"{draft.node.op_type} broadcasts from opset 8 on, and here the shapes are not known"
    full = np.broadcast_shapes(*(s for s in shapes if s is not None))
    zeros = draft.constant(np.zeros(full, dtype.numpy), "zeros")
    draft.keep(inputs=[n if s == full else draft.add("Add", n, zeros) for n, s in zip(draft.node.input, shapes, strict=True)])
    draft.values_only()
    return None


def equal_floats(draft: Draft) -> str | None:
    """Neither less nor greater, and both are numbers."""
    dtype = draft.type(0)
    if dtype is None or not (dtype.kind == "float" or dtype.integer):
        return ""
    a, b = draft.input(0), draft.input(1)
    apart = draft.add("Or", draft.add("Less", a, b), draft.add("Greater", a, b))
    if dtype.integer:
        draft.add("Not", apart, into=draft.output(0))
        return None
    draft.add("And", draft.add("Not", apart), draft.add("And", _number(draft, a), _number(draft, b)), into=draft.output(0))
    return None


def _number(draft: Draft, name: str) -> str:
    """Every number is below 1 or above 0; NaN is neither."""
    dtype = draft.around.type(name) or dtypes.FLOAT
    below, above = draft.add("Less", name, draft.scalar(1, dtype)), draft.add("Greater", name, draft.scalar(0, dtype))
    return draft.add("Or", below, above)


def at_least(draft: Draft) -> str | None:
    return _or_equal(draft, "Greater")


def at_most(draft: Draft) -> str | None:
    return _or_equal(draft, "Less")


def _or_equal(draft: Draft, strict: str) -> str | None:
    a, b = draft.input(0), draft.input(1)
    draft.add("Or", draft.add(strict, a, b), draft.add("Equal", a, b), into=draft.output(0))
    return None


def one_type(draft: Draft) -> str | None:
    """Base and exponent of different types, as float64 (integers as such when both are)."""
    base, exponent = draft.type(0), draft.type(1)
    if base is None or exponent is None:
        return f"the types of {draft.input(0)} and {draft.input(1)} are not known here, and Pow wants them equal"
    inner = draft.fresh("float64")
    operands = [draft.cast(draft.input(i), dtypes.DOUBLE) for i in (0, 1)]
    draft.keep(inputs=operands, outputs=[inner])
    draft.cast(inner, base, draft.output(0))
    draft.rounds(4)
    return None


def remainder(draft: Draft) -> str | None:
    """What is left after whole multiples, with the sign of the divisor (``fmod=0``) or of the dividend."""
    dtype = draft.type(0)
    if dtype is None or not dtype.integer:
        return f"Mod of {dtype or 'an unknown type'} needs opset 10"
    a, b, y = draft.input(0), draft.input(1), draft.output(0)
    multiple = draft.add("Mul", draft.add("Div", a, b), b)
    plain = draft.get("fmod") or dtype.kind == "uint"
    rest = draft.add("Sub", a, multiple, into=y if plain else "")
    if not plain:
        _signed(draft, rest)
    return None


def floats(draft: Draft) -> str | None:
    """fmod is exact; the divisor is added where the signs part."""
    dtype = draft.type(0)
    if dtype is None:
        return ""
    if dtype.kind == "float" and not draft.get("fmod"):
        rest = draft.fresh("rest")
        draft.keep(outputs=[rest], fmod=1)
        _signed(draft, rest)
        draft.values_only()
        return None
    if dtype.integer and draft.get("fmod"):
        wide = dtypes.INT64 if dtype.bits < 64 else dtype
        a, b = (n if wide is dtype else draft.cast(n, wide) for n in draft.node.input)
        multiple = draft.add("Mul", draft.add("Div", a, b), b)
        rest = draft.add("Sub", a, multiple, into=draft.output(0) if wide is dtype else "")
        if wide is not dtype:
            draft.cast(rest, dtype, draft.output(0))
        return None
    return ""


def _signed(draft: Draft, rest: str) -> None:
    """`rest` with the sign of the divisor."""
    dtype = draft.type(0) or dtypes.FLOAT
    zero, b = draft.scalar(0, dtype), draft.input(1)
    minus, plus = (draft.add("And", draft.add(x, rest, zero), draft.add(y, b, zero)) for x, y in (("Less", "Greater"), ("Greater", "Less")))
    shifted = draft.add("Add", rest, b)
    draft.add("Where", draft.add("Or", minus, plus), shifted, rest, into=draft.output(0))


DOWN: Mapping[Key, Adapter] = {
    ("Sum", 8): chain,
    **{(op, 8): same_shapes for op in ("Max", "Min", "Mean")},
    ("Equal", 11): equal_floats,
    ("GreaterOrEqual", 12): at_least,
    ("LessOrEqual", 12): at_most,
    ("Pow", 12): one_type,
    ("Mod", 10): remainder,
    ("Mod", 28): floats,
}
