"""ArgMax and ArgMin: the last of equal elements, from 12 on."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def reversed_axis(draft: Draft) -> str | None:
    """The last is the first of the reversed axis."""
    shape, axis = draft.shape(), draft.get("axis")
    if not draft.get("select_last_index"):
        return ""
    length = None if shape is None else shape[axis]
    if length is None:
        return f"{draft.node.op_type} selects the last index from opset 12 on, and here the length of the axis is not known"
    order, found = draft.ints(*range(length - 1, -1, -1)), draft.fresh("reversed")
    draft.keep(inputs=[draft.add("Gather", draft.input(0), order, axis=axis)], outputs=[found], select_last_index=None)
    draft.add("Sub", draft.integer(length - 1), found, into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {("ArgMax", 12): reversed_axis, ("ArgMin", 12): reversed_axis}
