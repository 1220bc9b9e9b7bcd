"""AffineGrid: onnx's function body drops the batch when there is but one, so that it may be used for more only."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets import bodies
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def batches(draft: Draft) -> str | None:
    """A batch of one is computed as two equal ones."""
    shape, sizes = draft.shape(), draft.integers(1)
    if shape is None or shape[0] is None:
        return "the function body of AffineGrid is wrong for a batch of one, and the number of batches is not known here"
    if shape[0] > 1:
        return bodies.expand(draft)
    if sizes is None:
        return "the function body of AffineGrid is wrong for a batch of one, and the size is computed at run time here"
    twice, grid = draft.add("Concat", draft.input(0), draft.input(0), axis=0), draft.fresh("twice")
    draft.add("AffineGrid", twice, draft.ints(2, *sizes[1:]), into=grid, opset=draft.here, align_corners=draft.get("align_corners"))
    draft.add("Slice", grid, draft.ints(0), draft.ints(1), draft.ints(0), into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {("AffineGrid", 20): batches}
