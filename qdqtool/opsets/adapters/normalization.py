"""BatchNormalization and GroupNormalization: what is normalized together, and when statistics are those of the batch."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def each_element(draft: Draft) -> str | None:
    """``spatial=0``: every element has parameters of its own, so all of a sample's become channels."""
    if draft.get("spatial"):
        return ""
    if draft.output(1):
        return "BatchNormalization with spatial=0 in training has no other form from opset 9 on"
    x, y = draft.input(0), draft.fresh("flat")
    flat = draft.add("Reshape", x, draft.ints(0, -1))
    parameters = [draft.add("Reshape", draft.input(i), draft.ints(-1)) for i in range(1, 5)]
    draft.keep(inputs=[flat, *parameters], outputs=[y], spatial=None)
    draft.add("Reshape", y, draft.add("Shape", x), into=draft.output(0))
    return None


def training(draft: Draft) -> str | None:
    """Five results meant training; from 14 on it is said, and the batch's own statistics are no results."""
    rank, x = draft.rank(), draft.input(0)
    if not draft.output(1):
        return ""
    saved = [draft.output(3), draft.output(4)]
    if saved[1] or (saved[0] and rank is None):
        return "the statistics of the batch are no results of BatchNormalization from opset 14 on"
    draft.keep(outputs=[draft.output(i) for i in range(3)], training_mode=1)
    if saved[0]:
        draft.add("ReduceMean", x, into=saved[0], axes=[a for a in range(rank or 0) if a != 1], keepdims=0)
        draft.rounds(16)
    return None


def told_by_results(draft: Draft) -> str | None:
    if not draft.get("training_mode"):
        return one_type(draft)
    results = [draft.output(i) or draft.fresh(f"result{i}") for i in range(3)]
    draft.keep(outputs=[*results, draft.fresh("saved_mean"), draft.fresh("saved_var")], training_mode=None)
    return None


def one_type(draft: Draft) -> str | None:
    """Narrower operands are widened; a narrower input is normalized in the type of the statistics."""
    types = [draft.type(i) for i in range(5)]
    own, wide = types[0], max((t for t in types if t is not None), key=lambda t: t.bits, default=None)
    if None in types or own is None or wide is None or (dtypes.BFLOAT16 in types and dtypes.FLOAT16 in types) or draft.output(1):
        return ""
    inputs = [draft.input(i) if t is wide else draft.cast(draft.input(i), wide) for i, t in enumerate(types)]
    y = draft.output(0) if own is wide else draft.fresh("wide")
    draft.keep(inputs=inputs, outputs=[y])
    if own is not wide:
        draft.cast(y, own, draft.output(0))
        draft.rounds(2, own)
    return None


def repeated(draft: Draft) -> str | None:
    """A scale and bias for each group become one for each channel."""
    shape, groups = draft.shape(), draft.get("num_groups")
    channels = shape[1] if shape else None
    if channels is None:
        return "GroupNormalization takes a scale for each channel from opset 21 on, whose number is not known here"
    draft.keep(inputs=[draft.input(0), *(_repeat(draft, i, channels // groups) for i in (1, 2))])
    return None


def _repeat(draft: Draft, index: int, times: int) -> str:
    column = draft.add("Reshape", draft.input(index), draft.ints(-1, 1))
    return draft.add("Reshape", draft.add("Expand", column, draft.ints(1, times)), draft.ints(-1))


UP: Mapping[Key, Adapter] = {
    ("BatchNormalization", 9): each_element,
    ("BatchNormalization", 14): training,
    ("GroupNormalization", 21): repeated,
}
DOWN: Mapping[Key, Adapter] = {("BatchNormalization", 14): told_by_results, ("BatchNormalization", 15): one_type}
