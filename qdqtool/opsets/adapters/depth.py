"""DepthToSpace: columns before rows, from 11 on."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def columns_first(draft: Draft) -> str | None:
    shape, block, x = draft.shape(), draft.get("blocksize"), draft.input(0)
    channels = None if shape is None else shape[1]
    if channels is None:
        return "DepthToSpace has mode=CRD from opset 11 on, and here the number of channels is not known"
    depth = channels // block**2
    height, width = (draft.add("Gather", draft.add("Shape", x), draft.ints(axis)) for axis in (2, 3))
    split = draft.add("Concat", draft.ints(0, depth, block, block), height, width, axis=0)
    turned = draft.add("Transpose", draft.add("Reshape", x, split), perm=[0, 1, 4, 2, 5, 3])
    lengths = [draft.add("Mul", length, draft.ints(block)) for length in (height, width)]
    draft.add("Reshape", turned, draft.add("Concat", draft.ints(0, depth), *lengths, axis=0), into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {("DepthToSpace", 11): columns_first}
