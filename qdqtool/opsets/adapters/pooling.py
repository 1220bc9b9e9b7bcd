"""Pooling: sizes rounded up (MaxPool and AveragePool 10, LpPool 18) and windows with gaps (AveragePool 19, LpPool 18)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def without_rounding(draft: Draft) -> str | None:
    """Padding at the end until the size is whole."""
    if any(d != 1 for d in draft.get("dilations") or ()):
        return f"{draft.node.op_type} has dilations from opset {draft.there + 1} on"
    if not draft.get("ceil_mode"):
        return ""
    shape = draft.static()
    if shape is None or draft.get("auto_pad") != "NOTSET":
        return f"{draft.node.op_type} rounds sizes up from opset {draft.there + 1} on, and here the lengths are not known"
    if draft.node.op_type == "AveragePool" and draft.get("count_include_pad"):
        return "AveragePool with ceil_mode and count_include_pad needs opset 10, since what is added would be counted"
    draft.keep(pads=_pads(draft, shape), ceil_mode=None, dilations=None)
    return None


def averaged(draft: Draft) -> str | None:
    """A window with gaps as a convolution of ones for each channel, divided by the number of elements that count."""
    dilations, kernel, shape, dtype = draft.get("dilations"), draft.get("kernel_shape"), draft.static(), draft.type(0)
    if all(d == 1 for d in dilations or ()):
        return ""
    if shape is None or dtype is None:
        return "AveragePool has dilations from opset 19 on, and here type and lengths are not known"
    if draft.get("ceil_mode") and (draft.get("count_include_pad") or draft.get("auto_pad") != "NOTSET"):
        return "AveragePool with ceil_mode, dilations and padding that counts has no other form below opset 19"
    pads = _pads(draft, shape) if draft.get("auto_pad") == "NOTSET" else None
    given = {"strides": draft.get("strides"), "pads": pads, "auto_pad": None if pads else draft.get("auto_pad")}
    given |= {"dilations": dilations, "kernel_shape": kernel}
    total = draft.add("Conv", draft.input(0), _ones(draft, dtype, shape[1], 1, *kernel), group=shape[1], **given)
    if draft.get("count_include_pad"):
        count = draft.scalar(int(np.prod(kernel)), dtype)
    else:
        count = draft.add("Conv", _ones(draft, dtype, 1, 1, *shape[2:]), _ones(draft, dtype, 1, 1, *kernel), **given)
    draft.add("Div", total, count, into=draft.output(0))
    draft.rounds()
    return None


def _ones(draft: Draft, dtype: ElementType, *shape: int) -> str:
    return draft.constant(np.ones(shape, dtype.numpy), "ones")


def _pads(draft: Draft, shape: tuple[int, ...]) -> list[int]:
    """Padding, raised at the end until the size is whole."""
    kernel = draft.get("kernel_shape")
    count = len(kernel)
    strides, pads = draft.get("strides") or (1,) * count, list(draft.get("pads") or (0,) * 2 * count)
    dilations = draft.get("dilations") or (1,) * count
    for i in range(count) if draft.get("ceil_mode") else ():
        length, begin, end, window = shape[i + 2], pads[i], pads[i + count], (kernel[i] - 1) * dilations[i] + 1
        whole = -(-(length + begin + end - window) // strides[i]) + 1
        whole -= (whole - 1) * strides[i] >= length + begin
        pads[i + count] = max((whole - 1) * strides[i] + window - length - begin, 0)
    return pads


DOWN: Mapping[Key, Adapter] = {
    ("MaxPool", 10): without_rounding,
    ("AveragePool", 10): without_rounding,
    ("LpPool", 18): without_rounding,
    ("AveragePool", 19): averaged,
}
