"""Gathering and scattering: batches of GatherND, reductions, and the old name Scatter."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def rename_up(draft: Draft) -> str | None:
    draft.keep("ScatterElements")
    return None


def rename_down(draft: Draft) -> str | None:
    if draft.goal < 9:
        return "ScatterElements: opsets below 9 have no operator that scatters"
    draft.keep("Scatter")
    return None


def flat_batches(draft: Draft) -> str | None:
    """Batches in one dimension, whose number every index begins with."""
    shape, indices, batch = draft.static(0), draft.static(1), draft.get("batch_dims")
    if shape is None or indices is None:
        return "GatherND has batches from opset 12 on, and here the shapes are not known"
    count, depth = prod(shape[:batch]), prod(indices[batch:-1])
    data = draft.add("Reshape", draft.input(0), draft.ints(count, *shape[batch:]))
    flat = draft.add("Reshape", draft.input(1), draft.ints(count, depth, indices[-1]))
    number = draft.constant(np.broadcast_to(np.arange(count)[:, None, None], (count, depth, 1)).astype(np.int64), "batch")
    found = draft.add("GatherND", data, draft.add("Concat", number, flat, axis=2))
    result = (*indices[:-1], *shape[batch + indices[-1] :])
    draft.add("Reshape", found, draft.ints(*result), into=draft.output(0))
    return None


def by_flat_index(draft: Draft) -> str | None:
    """GatherND as Gather from all leading dimensions in one."""
    shape, indices = draft.static(0), draft.static(1)
    if shape is None or indices is None:
        return "opset 10 has no operator GatherND (from opset 11), and here the shapes are not known"
    depth = indices[-1]
    sizes = np.array(shape[:depth], np.int64)
    wrapped = _wrapped(draft, draft.input(1), draft.constant(sizes, "lengths"))
    strides = draft.constant(np.array([prod(shape[i + 1 : depth]) for i in range(depth)], np.int64), "strides")
    index = draft.add("ReduceSum", draft.add("Mul", wrapped, strides), axes=[-1 % len(indices)], keepdims=0)
    data = draft.add("Reshape", draft.input(0), draft.ints(prod(shape[:depth]), *shape[depth:]))
    draft.add("Gather", data, index, into=draft.output(0), axis=0)
    return None


def by_flat_elements(draft: Draft) -> str | None:
    """GatherElements as Gather from all elements in one row."""
    shape, indices, axis = draft.static(0), draft.static(1), draft.axis()
    if shape is None or indices is None or axis is None:
        return "opset 10 has no operator GatherElements (from opset 11), and here the shapes are not known"
    index = draft.input(1) if draft.type(1) is dtypes.INT64 else draft.cast(draft.input(1), dtypes.INT64)
    own = _wrapped(draft, index, draft.constant(np.array(shape[axis], np.int64), "length"))
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    places = np.indices(indices)
    base = sum((places[i] * strides[i] for i in range(len(shape)) if i != axis), np.zeros(indices, np.int64))
    flat = draft.add("Add", draft.add("Mul", own, draft.integer(strides[axis])), draft.constant(base.astype(np.int64), "places"))
    draft.add("Gather", draft.add("Reshape", draft.input(0), draft.ints(-1)), flat, into=draft.output(0), axis=0)
    return None


def _wrapped(draft: Draft, index: str, length: str) -> str:
    """Negative indices counted from the end, in integer arithmetic: ``i - length * floor(i / length)`` for i >= -length."""
    shifted = draft.add("Add", index, length)
    return draft.add("Sub", shifted, draft.add("Mul", draft.add("Div", shifted, length), length))


UP: Mapping[Key, Adapter] = {("Scatter", 11): rename_up}
DOWN: Mapping[Key, Adapter] = {
    ("ScatterElements", 11): rename_down,
    ("GatherND", 12): flat_batches,
    ("GatherND", 11): by_flat_index,
    ("GatherElements", 11): by_flat_elements,
}
