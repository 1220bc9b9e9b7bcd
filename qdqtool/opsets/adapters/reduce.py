"""Reduce operators: axes became an input, of ReduceSum at 13 and of the others at 18; booleans at 20; integers left some at 28."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft

OTHERS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")


def to_input(draft: Draft) -> str | None:
    draft.keep(inputs=[draft.input(0), draft.ints(*draft.get("axes"))], axes=None)
    return None


def to_attribute(draft: Draft) -> str | None:
    if not draft.input(1):
        return _unreduced(draft) if draft.get("noop_with_empty_axes") else _all(draft)
    axes = draft.integers(1)
    if axes is None:
        return _through_sum(draft)
    if not axes:
        return _unreduced(draft) if draft.get("noop_with_empty_axes") else _all(draft)
    draft.keep(inputs=[draft.input(0)], axes=axes, noop_with_empty_axes=None)
    return None


def _all(draft: Draft) -> str | None:
    draft.keep(inputs=[draft.input(0)], noop_with_empty_axes=None)
    return None


def _unreduced(draft: Draft) -> str | None:
    """No axes and nothing to do along them: only what happens before and after the sum."""
    x, y = draft.input(0), draft.output(0)
    match draft.node.op_type.removeprefix("Reduce"):
        case "L1" | "L2":
            draft.add("Abs", x, into=y)
        case "SumSquare":
            draft.add("Mul", x, x, into=y)
        case "LogSum":
            draft.add("Log", x, into=y)
            draft.rounds()
        case _:
            draft.add("Identity", x, into=y)
    return None


def _through_sum(draft: Draft) -> str | None:
    """Axes made at run time: ReduceSum takes them from opset 13 on."""
    x, y, kind = draft.input(0), draft.output(0), draft.node.op_type.removeprefix("Reduce")
    if kind not in ("Mean", "L1", "L2", "SumSquare", "LogSum") or draft.goal < 13:
        return f"{draft.node.op_type} takes axes as an attribute up to opset {draft.there}, and here they are computed at run time"
    if draft.get("noop_with_empty_axes"):
        return f"{draft.node.op_type} with axes computed at run time that may be empty has no other form"
    before = {"L1": ("Abs", x), "L2": ("Mul", x, x), "SumSquare": ("Mul", x, x)}.get(kind)
    inner = draft.add(*before) if before else x
    total = draft.add(
        "ReduceSum", inner, draft.input(1), into="" if kind in ("Mean", "L2", "LogSum") else y, keepdims=draft.get("keepdims")
    )
    if kind == "Mean":
        _divide(draft, total)
    elif kind in ("L2", "LogSum"):
        draft.add("Sqrt" if kind == "L2" else "Log", total, into=y)
    draft.rounds()
    return None


def _divide(draft: Draft, total: str) -> None:
    dtype = draft.type(0)
    count = draft.add("Div", draft.add("Size", draft.input(0)), draft.add("Size", total))
    draft.add("Div", total, draft.cast(count, dtype or dtypes.FLOAT), into=draft.output(0))


def booleans(draft: Draft) -> str | None:
    """Largest and smallest of booleans, through bytes."""
    if draft.type(0) is not dtypes.BOOL:
        return ""
    inner = draft.fresh("uint8")
    draft.keep(inputs=[draft.cast(draft.input(0), dtypes.UINT8), draft.input(1)], outputs=[inner])
    draft.cast(inner, dtypes.BOOL, draft.output(0))
    return None


def through_float(draft: Draft) -> str | None:
    """Logarithms of integers, cut off."""
    dtype = draft.type(0)
    if dtype is None or not dtype.integer:
        return ""
    inner = draft.fresh("float64")
    draft.keep(inputs=[draft.cast(draft.input(0), dtypes.DOUBLE), draft.input(1)], outputs=[inner])
    draft.cast(inner, dtype, draft.output(0))
    return None


UP: Mapping[Key, Adapter] = {
    ("ReduceSum", 13): to_input,
    **{(f"Reduce{kind}", 18): to_input for kind in OTHERS},
    ("ReduceLogSum", 28): through_float,
    ("ReduceLogSumExp", 28): through_float,
}
DOWN: Mapping[Key, Adapter] = {
    ("ReduceSum", 13): to_attribute,
    **{(f"Reduce{kind}", 18): to_attribute for kind in OTHERS},
    ("ReduceMax", 20): booleans,
    ("ReduceMin", 20): booleans,
}
