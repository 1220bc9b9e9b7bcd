"""Upsample and Resize: scales became an input at 9, coordinate modes came at 11, axes and policies at 18."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft
from qdqtool.opsets.situation import Array

SCALES = "the scales of {} are computed at run time, on which the way to round depends"


def scales_to_input(draft: Draft) -> str | None:
    draft.keep(inputs=[draft.input(0), draft.constant(np.array(draft.get("scales"), np.float32), "scales")], scales=None)
    return None


def scales_to_attribute(draft: Draft) -> str | None:
    scales = draft.value(1)
    if scales is None:
        return "Upsample takes scales as an attribute up to opset 8, and here they are computed at run time"
    draft.keep(inputs=[draft.input(0)], scales=[float(s) for s in scales])
    return None


def to_resize(draft: Draft) -> str | None:
    draft.keep("Resize")
    return None


def to_upsample(draft: Draft) -> str | None:
    scales = draft.value(1)
    if scales is None or bool(np.any(scales < 1)):
        return "Upsample, which opset 9 has instead of Resize, only enlarges, and here the scales are not known to do so"
    draft.keep("Upsample")
    return None


def asymmetric(draft: Draft) -> str | None:
    """Before 11 the nearest pixel is the one below when enlarging and the one above when shrinking."""
    if draft.get("mode") != "nearest":
        _asymmetric(draft, draft.input(0), draft.input(1), draft.output(0), None)
        return None
    scales = draft.value(1)
    if scales is None:
        return SCALES.format(draft.node.op_type)
    shrinking, enlarging = np.minimum(scales, 1), np.maximum(scales, 1)
    if bool(np.all(scales >= 1)) or bool(np.all(scales <= 1)):
        _asymmetric(draft, draft.input(0), draft.input(1), draft.output(0), "ceil" if bool(np.any(scales < 1)) else "floor")
        return None
    small = draft.fresh("shrunk")
    _asymmetric(draft, draft.input(0), draft.constant(shrinking, "shrinking"), small, "ceil")
    _asymmetric(draft, small, draft.constant(enlarging, "enlarging"), draft.output(0), "floor")
    return None


def _asymmetric(draft: Draft, x: str, scales: str, y: str, rounding: str | None) -> None:
    roi = draft.constant(np.zeros(0, np.float32), "roi")
    where = "asymmetric"
    draft.add("Resize", x, roi, scales, into=y, mode=draft.get("mode"), coordinate_transformation_mode=where, nearest_mode=rounding)


def plain(draft: Draft) -> str | None:
    """Only what opset 10 means: asymmetric, and the nearest pixel rounded as it does."""
    where, mode, rounding = draft.get("coordinate_transformation_mode"), draft.get("mode"), draft.get("nearest_mode")
    scales = _scales(draft)
    if scales is None:
        return SCALES.format("Resize")
    fits = rounding in _ROUNDS_AS_10 and bool(_ROUNDS_AS_10[rounding](scales))
    same = where == "asymmetric" or bool(np.all(scales == 1))
    if not same or mode == "cubic" or (mode == "nearest" and not fits) or draft.get("exclude_outside"):
        return f"Resize with coordinate_transformation_mode={where}, mode={mode} and nearest_mode={rounding} has no form below opset 11"
    attributes = ("coordinate_transformation_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value")
    draft.keep(inputs=[draft.input(0), draft.constant(scales, "scales")], drop=attributes)
    return None


def _scales(draft: Draft) -> Array | None:
    """Factors of all axes, from scales or sizes."""
    given, sizes, shape = draft.value(2), draft.integers(3), draft.static()
    if given is not None and given.size:
        return given.astype(np.float32)
    if sizes is None or shape is None or 0 in shape:
        return None
    return np.array([np.float32(n) / np.float32(d) for n, d in zip(sizes, shape, strict=True)], np.float32)


def both_inputs(draft: Draft) -> str | None:
    """Inputs that may be left out from 13 on are empty before."""
    dtype = dtypes.FLOAT
    empty = draft.constant(np.zeros(0, dtype.numpy), "empty")
    inputs = [draft.input(0), draft.input(1) or empty, draft.input(2) or empty, draft.input(3)]
    draft.keep(inputs=inputs)
    return None


def all_axes(draft: Draft) -> str | None:
    """Factors or sizes for all axes, and sizes that keep the aspect ratio worked out."""
    shape, rank, axes = draft.shape(), draft.rank(), draft.get("axes")
    if draft.get("antialias"):
        return "Resize with antialias=1 needs opset 18"
    if rank is None or shape is None:
        return f"the rank of {draft.input(0)} is not known here, and Resize takes factors for all axes up to opset 17"
    axes = list(range(rank)) if axes is None else [a % rank for a in axes]
    scales, sizes, roi = draft.value(2), draft.integers(3), draft.value(1)
    if (draft.input(3) and sizes is None) or (not draft.input(3) and scales is None):
        return "Resize takes factors for all axes up to opset 17, and here they are computed at run time"
    inputs = [draft.input(0), _roi(draft, roi, axes, rank), "", ""]
    if sizes is None and scales is not None:
        full = np.ones(rank, np.float32)
        full[axes] = scales
        inputs[2] = draft.constant(full, "scales")
    else:
        lengths = _lengths(list(shape), axes, sizes or [], draft.get("keep_aspect_ratio_policy"))
        if lengths is None:
            return "Resize takes sizes for all axes up to opset 17, and here some lengths are not known"
        inputs[3] = draft.ints(*lengths)
    draft.keep(inputs=inputs, axes=None, antialias=None, keep_aspect_ratio_policy=None)
    return None


def _roi(draft: Draft, roi: Array | None, axes: list[int], rank: int) -> str:
    if roi is None or not roi.size or roi.size == 2 * rank:
        return draft.input(1)
    full = np.concatenate([np.zeros(rank), np.ones(rank)]).astype(roi.dtype)
    full[[*axes, *(a + rank for a in axes)]] = roi
    return draft.constant(full, "roi")


def _lengths(shape: list[int | None], axes: list[int], sizes: list[int], policy: str | None) -> list[int] | None:
    if policy not in (None, "stretch"):
        pairs = [(n, shape[a]) for n, a in zip(sizes, axes, strict=True)]
        factors = [n / d for n, d in pairs if d]
        if len(factors) < len(pairs):
            return None
        factor = min(factors) if policy == "not_larger" else max(factors)
        sizes = [int(np.floor(factor * (shape[a] or 0) + 0.5)) for a in axes]
    result = list(shape)
    for axis, size in zip(axes, sizes, strict=True):
        result[axis] = size
    return None if None in result else [n for n in result if n is not None]


def symmetric(draft: Draft) -> str | None:
    """half_pixel_symmetric is half_pixel where the scaled length is whole."""
    if draft.get("coordinate_transformation_mode") != "half_pixel_symmetric":
        return ""
    shape, scales = draft.static(), draft.value(2)
    axes = draft.get("axes") or range(len(shape or ()))
    whole = draft.integers(3) is not None or (
        shape is not None
        and scales is not None
        and all(float(s) * shape[a] == int(float(s) * shape[a]) for s, a in zip(scales, axes, strict=True))
    )
    if not whole:
        return "Resize with coordinate_transformation_mode=half_pixel_symmetric needs opset 19 where scaled lengths are not whole"
    draft.keep(coordinate_transformation_mode="half_pixel")
    if draft.get("mode") != "nearest":
        draft.rounds(16)
    return None


# Factors at which a way to round chooses the pixel that opset 10 chose.
_ROUNDS_AS_10: Mapping[str, Callable[[Array], Any]] = {
    "floor": lambda scales: np.all(scales >= 1),
    "ceil": lambda scales: np.all(scales <= 1),
    "round_prefer_floor": lambda scales: np.all((scales == 1) | (scales == 2)),
    "round_prefer_ceil": lambda scales: np.all(scales == 1),
}

UP: Mapping[Key, Adapter] = {
    ("Upsample", 9): scales_to_input,
    ("Upsample", 10): to_resize,
    ("Resize", 11): asymmetric,
}
DOWN: Mapping[Key, Adapter] = {
    ("Upsample", 9): scales_to_attribute,
    ("Resize", 10): to_upsample,
    ("Resize", 11): plain,
    ("Resize", 13): both_inputs,
    ("Resize", 18): all_axes,
    ("Resize", 19): symmetric,
}
