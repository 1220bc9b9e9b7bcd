"""Clip: bounds became inputs at 11, and integers were allowed at 12."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft

FLOATS = (dtypes.FLOAT16, dtypes.FLOAT, dtypes.DOUBLE)


def to_inputs(draft: Draft) -> str | None:
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, and Clip takes bounds of that type from opset 11 on"
    written = {a.name for a in draft.node.attribute}
    with np.errstate(over="ignore"):
        bounds = [draft.scalar(draft.get(name), dtype) if name in written else "" for name in ("min", "max")]
    draft.keep(inputs=[draft.input(0), *bounds], min=None, max=None)
    return None


def to_attributes(draft: Draft) -> str | None:
    dtype, low, high = draft.type(0), draft.value(1), draft.value(2)
    known = (low is not None or not draft.input(1)) and (high is not None or not draft.input(2))
    if not known or dtype not in FLOATS or not all(_single(b) for b in (low, high)):
        return by_choice(draft)
    bounds = {name: float(b.item()) for name, b in (("min", low), ("max", high)) if b is not None}
    if len(bounds) == 2 and bounds["min"] > bounds["max"]:
        bounds["min"] = bounds["max"]
    draft.keep(inputs=[draft.input(0)], min=bounds.get("min"), max=bounds.get("max"))
    return None


def _single(bound: np.ndarray | None) -> bool:
    """An attribute holds it: it is a float32."""
    return bound is None or bool(bound.astype(np.float32).astype(bound.dtype) == bound)


def by_choice(draft: Draft) -> str | None:
    """Comparing with each bound; NaN is below none. Left out, bounds of floats are the largest finite numbers."""
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, and Clip has bounds of that type"
    ends = (dtype.low, dtype.high) if dtype in FLOATS else (None, None)
    low, high = (draft.input(i + 1) or (draft.scalar(end, dtype) if end is not None else "") for i, end in enumerate(ends))
    y = draft.input(0)
    if not low and not high:
        draft.add("Identity", y, into=draft.output(0))
    if low:
        y = draft.add("Where", draft.add("Less", y, low), low, y, into="" if high else draft.output(0))
    if high:
        draft.add("Where", draft.add("Less", high, y), high, y, into=draft.output(0))
    return None


def integers(draft: Draft) -> str | None:
    return by_choice(draft) if draft.type(0) not in FLOATS else ""


UP: Mapping[Key, Adapter] = {("Clip", 11): to_inputs}
DOWN: Mapping[Key, Adapter] = {("Clip", 11): to_attributes, ("Clip", 12): integers}
