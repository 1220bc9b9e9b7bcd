"""Softmax, LogSoftmax, Hardmax: before 13 all axes from `axis` on are taken together, from there on it is one axis."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft

FAMILY = ("Softmax", "LogSoftmax", "Hardmax")


def together(draft: Draft) -> str | None:
    """Flatten at the axis, work along the last, and back."""
    x = draft.input(0)
    flat, shape, inner = draft.add("Flatten", x, axis=draft.get("axis")), draft.add("Shape", x), draft.fresh("flat")
    draft.keep(inputs=[flat], outputs=[inner], axis=-1)
    draft.add("Reshape", inner, shape, into=draft.output(0))
    return None


def one_axis(draft: Draft) -> str | None:
    """The axis becomes the last one; there both are the same."""
    rank, axis = draft.rank(), draft.axis()
    if rank is None or axis is None:
        return f"the rank of {draft.input(0)} is not known here, on which the older form of {draft.node.op_type} depends"
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    inner = draft.fresh("last")
    draft.keep(inputs=[draft.add("Transpose", draft.input(0), perm=order)], outputs=[inner], axis=rank - 1)
    draft.add("Transpose", inner, into=draft.output(0), perm=order)
    return None


UP: Mapping[Key, Adapter] = {(op, 13): together for op in FAMILY}
DOWN: Mapping[Key, Adapter] = {(op, 13): one_axis for op in FAMILY}
