"""Split: sizes became an input at 13; from 18 on equal parts are asked for by their number, and the last may be smaller."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def to_input(draft: Draft) -> str | None:
    draft.keep(inputs=[draft.input(0), draft.ints(*draft.get("split"))], split=None)
    return None


def to_attribute(draft: Draft) -> str | None:
    sizes = draft.integers(1)
    if sizes is None:
        return "Split takes sizes as an attribute up to opset 12, and here they are computed at run time"
    draft.keep(inputs=[draft.input(0)], split=sizes)
    return None


def to_sizes(draft: Draft) -> str | None:
    parts, axis, shape = draft.get("num_outputs"), draft.get("axis"), draft.shape()
    length = None if shape is None else shape[axis]
    sizes = _sizes_at_run_time(draft, parts, axis) if length is None else draft.ints(*_sizes(length, parts))
    draft.keep(inputs=[draft.input(0), sizes], num_outputs=None)
    return None


def _sizes(length: int, parts: int) -> list[int]:
    each = -(-length // parts)
    return [each] * (parts - 1) + [length - each * (parts - 1)]


def _sizes_at_run_time(draft: Draft, parts: int, axis: int) -> str:
    length = draft.add("Gather", draft.add("Shape", draft.input(0)), draft.ints(axis))
    each = draft.add("Div", draft.add("Add", length, draft.ints(parts - 1)), draft.ints(parts))
    last = draft.add("Sub", length, draft.add("Mul", each, draft.ints(parts - 1)))
    return draft.add("Concat", *[each] * (parts - 1), last, axis=0)


UP: Mapping[Key, Adapter] = {("Split", 13): to_input}
DOWN: Mapping[Key, Adapter] = {("Split", 13): to_attribute, ("Split", 18): to_sizes}
