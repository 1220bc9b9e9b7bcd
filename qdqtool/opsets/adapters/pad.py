"""Pad: lengths and value became inputs at 11, axes came at 18, wrapping at 19."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft

RUN_TIME = "Pad takes pads as an attribute up to opset 10, and here they are computed at run time"


def to_inputs(draft: Draft) -> str | None:
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, and Pad takes a value of that type from opset 11 on"
    value = draft.scalar(draft.get("value"), dtype)
    draft.keep(inputs=[draft.input(0), draft.ints(*draft.get("pads")), value], pads=None, value=None)
    return None


def to_attributes(draft: Draft) -> str | None:
    pads, value, dtype = draft.integers(1), draft.value(2), draft.type(0)
    if pads is None or (value is None and draft.input(2)):
        return RUN_TIME
    wide = None if dtype is None else _wide(dtype)
    if dtype is None or wide is None:
        return f"Pad of {dtype or 'an unknown type'} needs opset 11"
    x = draft.input(0) if wide is dtype else draft.cast(draft.input(0), wide)
    y = draft.output(0) if wide is dtype else draft.fresh("padded")
    draft.keep(inputs=[x], outputs=[y], pads=pads, value=float(value.item()) if value is not None else 0.0)
    if wide is not dtype:
        draft.cast(y, dtype, draft.output(0))
    return None


def _wide(dtype: dtypes.ElementType) -> dtypes.ElementType | None:
    """The float type that holds all values."""
    if dtype in (dtypes.FLOAT16, dtypes.FLOAT, dtypes.DOUBLE):
        return dtype
    if dtype is dtypes.BOOL or dtype is dtypes.BFLOAT16 or (dtype.integer and dtype.bits <= 16):
        return dtypes.FLOAT
    return dtypes.DOUBLE if dtype.integer and dtype.bits <= 32 else None


def all_axes(draft: Draft) -> str | None:
    """Lengths for all axes, 0 for those that were not named."""
    rank, axes, pads = draft.rank(), draft.integers(3), draft.integers(1)
    if rank is None or axes is None:
        return "Pad has axes from opset 18 on, and here axes or rank are not known"
    places = [a % rank for a in axes] + [a % rank + rank for a in axes]
    if pads is not None:
        full = np.zeros(2 * rank, np.int64)
        full[places] = pads
        given = draft.ints(*full.tolist())
    else:
        given = draft.add("ScatterElements", draft.ints(*[0] * (2 * rank)), draft.ints(*places), draft.input(1))
    draft.keep(inputs=[draft.input(0), given, draft.input(2)])
    return None


def wrapped(draft: Draft) -> str | None:
    """Wrapping repeats the elements along an axis, so it picks them by their index."""
    if draft.get("mode") != "wrap":
        return ""
    shape, pads, axes = draft.static(), draft.integers(1), draft.integers(3) if draft.input(3) else None
    if shape is None or pads is None or (axes is None and draft.input(3)):
        return "Pad wraps from opset 19 on, and here the lengths are not known"
    axes = list(range(len(shape))) if axes is None else [a % len(shape) for a in axes]
    moved = [(a, b, e) for a, b, e in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True) if b or e]
    value = draft.input(0)
    for axis, begin, end in moved:
        index = [i % shape[axis] for i in range(-begin, shape[axis] + end)]
        value = draft.add("Gather", value, draft.ints(*index), axis=axis)
    draft.add("Identity", value, into=draft.output(0))
    return None


UP: Mapping[Key, Adapter] = {("Pad", 11): to_inputs}
DOWN: Mapping[Key, Adapter] = {("Pad", 11): to_attributes, ("Pad", 18): all_axes, ("Pad", 19): wrapped}
