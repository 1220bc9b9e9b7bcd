"""Slice: starts, ends and axes became inputs at 10, where steps came too."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def to_inputs(draft: Draft) -> str | None:
    axes = draft.get("axes")
    given = [draft.ints(*draft.get("starts")), draft.ints(*draft.get("ends")), draft.ints(*axes) if axes is not None else ""]
    draft.keep(inputs=[draft.input(0), *given], starts=None, ends=None, axes=None)
    return None


def to_attributes(draft: Draft) -> str | None:
    starts, ends, axes, steps = (draft.integers(i) for i in range(1, 5))
    late = [name for name, known in zip(draft.node.input[1:], (starts, ends, axes, steps), strict=False) if name and known is None]
    if late or starts is None or ends is None:
        return f"Slice takes its bounds as attributes up to opset 9, and {', '.join(late)} is computed at run time"
    axes = list(range(len(starts))) if axes is None else axes
    rank = draft.rank()
    if any(a < 0 for a in axes) and rank is None:
        return f"the rank of {draft.input(0)} is not known here, and Slice has no negative axes below opset 10"
    axes = [a if a >= 0 else a + (rank or 0) for a in axes]
    if steps is not None and any(s != 1 for s in steps):
        return _picked(draft, starts, ends, axes, steps)
    draft.keep(inputs=[draft.input(0)], starts=starts, ends=ends, axes=axes)
    return None


def _picked(draft: Draft, starts: list[int], ends: list[int], axes: list[int], steps: list[int]) -> str | None:
    """Steps pick elements by their index."""
    shape, value = draft.shape(), draft.input(0)
    if shape is None or any(shape[a] is None for a in axes):
        return "Slice has steps from opset 10 on, and here the lengths are not known"
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        indices = list(range(shape[axis] or 0))[_cut(start, end, step)]
        value = draft.add("Gather", value, draft.ints(*indices), axis=axis)
    draft.add("Identity", value, into=draft.output(0))
    return None


def _cut(start: int, end: int, step: int) -> slice:
    """Python's slice; an end that lies before the first element counts as open."""
    open_end = step < 0 and end < -(1 << 30)
    return slice(start, None if open_end else end, step)


UP: Mapping[Key, Adapter] = {("Slice", 10): to_inputs}
DOWN: Mapping[Key, Adapter] = {("Slice", 10): to_attributes}
