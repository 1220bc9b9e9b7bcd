"""The form of a step: what it is apart from the names of its operands, which become slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from qdqtool.expressions import Computed, Expr, Literal, Op, Runtime, Step, Stored


def abstract(step: Step) -> tuple[Step, dict[Expr, Expr]]:
    """The form of a step, and what its slots stand for."""
    slots: dict[Expr, Expr] = {}
    names: dict[Expr, Expr] = {}

    def slot(leaf: Expr) -> Expr:
        if leaf not in names:
            names[leaf] = _slot(leaf, f"#{len(names)}")
            slots[names[leaf]] = leaf
        return names[leaf]

    form = _rebuilt(step, slot)
    assert isinstance(form, Step)
    return form, slots


def _slot(leaf: Expr, name: str) -> Expr:
    assert isinstance(leaf, Stored | Runtime)
    return Stored(("slot",), name, leaf.dtype, leaf.shape) if isinstance(leaf, Stored) else Runtime(name, leaf.dtype, leaf.shape)


def fill(expr: Expr, slots: Mapping[Expr, Expr]) -> Expr:
    """An expression with its slots filled."""
    return _rebuilt(expr, lambda leaf: slots.get(leaf, leaf))


def _rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    match expr:
        case Stored() | Runtime():
            return change(expr)
        case Literal():
            return expr
        case Computed():
            return replace(expr, args=tuple(_rebuilt(a, change) for a in expr.args))  # type: ignore[misc]
        case Op():
            return replace(expr, inputs=tuple(None if i is None else _rebuilt(i, change) for i in expr.inputs))
        case Step():
            zero = None if expr.zero_point is None else _rebuilt(expr.zero_point, change)
            return replace(expr, x=_rebuilt(expr.x, change), scale=_rebuilt(expr.scale, change), zero_point=zero)
