"""RoiAlign, GridSample and DFT: where samples lie, and along which axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def shifted_rois(draft: Draft) -> str | None:
    """Half a pixel of the output, taken off the regions; regions below one pixel are widened before 16 only."""
    if draft.get("coordinate_transformation_mode") != "half_pixel":
        return ""
    rois, scale, dtype = draft.value(1), draft.get("spatial_scale"), draft.type(1) or dtypes.FLOAT
    if rois is None or bool(np.any((rois[:, 2:] - rois[:, :2]) * scale < 1)):
        return "RoiAlign widens regions of less than one pixel before opset 16, and here some may be as small"
    half = draft.scalar(0.5 / scale, dtype)
    draft.keep(inputs=[draft.input(0), draft.add("Sub", draft.input(1), half), draft.input(2)], coordinate_transformation_mode=None)
    draft.rounds(16)
    return None


def axis_to_input(draft: Draft) -> str | None:
    draft.keep(inputs=[draft.input(0), draft.input(1), draft.integer(draft.get("axis"))], axis=None)
    return None


def axis_to_attribute(draft: Draft) -> str | None:
    axis, rank = draft.integers(2), draft.rank()
    if axis is None and draft.input(2):
        return "DFT takes its axis as an attribute up to opset 19, and here it is computed at run time"
    found = -2 if axis is None else axis[0]
    if found < 0 and rank is None:
        return f"the rank of {draft.input(0)} is not known here, on which the axis of DFT depends"
    draft.keep(inputs=[draft.input(0), draft.input(1)], axis=found if found >= 0 else found + (rank or 0))
    return None


UP: Mapping[Key, Adapter] = {("DFT", 20): axis_to_input}
DOWN: Mapping[Key, Adapter] = {("DFT", 20): axis_to_attribute, ("RoiAlign", 16): shifted_rois}
