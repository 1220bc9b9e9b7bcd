"""Trilu (14) and EyeLike (9): triangles and diagonals of a known size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def triangle(draft: Draft) -> str | None:
    shape, dtype, diagonal = draft.shape(), draft.type(0), draft.integers(1)
    if shape is None or dtype is None or shape[-1] is None or shape[-2] is None or (draft.input(1) and diagonal is None):
        return "opset 13 has no operator Trilu (from opset 14), and here lengths and diagonal are not known"
    ones, k = np.ones((shape[-2], shape[-1]), np.bool_), diagonal[0] if diagonal else 0
    mask = draft.constant(np.triu(ones, k) if draft.get("upper") else np.tril(ones, k), "triangle")
    draft.add("Where", mask, draft.input(0), draft.scalar(0, dtype), into=draft.output(0))
    return None


def diagonal(draft: Draft) -> str | None:
    shape, dtype = draft.static(), dtypes.of_code(draft.get("dtype") or 0) or draft.type(0)
    if shape is None or dtype is None:
        return "opset 8 has no operator EyeLike (from opset 9), and here the lengths are not known"
    draft.add("Identity", draft.constant(np.eye(shape[0], shape[1], draft.get("k")).astype(dtype.numpy), "eye"), into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {("Trilu", 14): triangle, ("EyeLike", 9): diagonal}
