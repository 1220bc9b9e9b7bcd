"""Constant, ConstantOfShape and Range: forms of a value that came later."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from qdqtool import dtypes
from qdqtool.kernels.sources import materialize
from qdqtool.model import tensors
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def tensor(draft: Draft) -> str | None:
    """Every form of a value as a tensor."""
    if tensors.constant_header(draft.node) is None:
        return "Constant has no value of its own here"
    draft.add("Constant", into=draft.output(0), value=tensors.make("", materialize(tensors.constant_source(draft.node, None))))
    return None


def expanded(draft: Draft) -> str | None:
    """One element, spread; a scalar keeps its rank."""
    fill = draft.get("value")
    element = tensors.array(fill, None) if isinstance(fill, TensorProto) else np.zeros(1, np.float32)
    draft.add("Expand", draft.constant(element.reshape(()), "fill"), draft.input(0), into=draft.output(0))
    return None


def in_float32(draft: Draft) -> str | None:
    """A range of half precision is counted in the type it is stashed in."""
    dtype, stash = draft.type(0), dtypes.of_code(draft.get("stash_type") or 1)
    if dtype is None or stash is None or dtype not in (dtypes.FLOAT16, dtypes.BFLOAT16):
        return ""
    counted = draft.fresh("counted")
    draft.add("Range", *(draft.cast(name, stash) for name in draft.node.input), into=counted)
    draft.cast(counted, dtype, draft.output(0))
    return None


def counted(draft: Draft) -> str | None:
    """A range of constants is one."""
    if any(draft.rank(i) == 1 for i in range(3)):
        scalars = [draft.add("Squeeze", name, axes=[0]) if draft.rank(i) == 1 else name for i, name in enumerate(draft.node.input)]
        draft.add("Range", *scalars, into=draft.output(0), opset=draft.here)
        return None
    values = [draft.value(i) for i in range(3)]
    if any(v is None for v in values):
        return ""
    start, limit, delta = (v.item() for v in values if v is not None)
    count = max(int(np.ceil((limit - start) / delta)), 0)
    first = np.asarray(start, values[0].dtype)  # type: ignore[union-attr]
    numbers = np.array([first + np.asarray(i * np.asarray(delta, first.dtype), first.dtype) for i in range(count)], first.dtype)
    draft.add("Identity", draft.constant(numbers, "range"), into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {
    ("Constant", 11): tensor,
    ("Constant", 12): tensor,
    ("ConstantOfShape", 9): expanded,
    ("Range", 11): counted,
    ("Range", 27): in_float32,
}
