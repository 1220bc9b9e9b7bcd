"""Expand (8) to a known shape: new leading axes, then repeated."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def repeated(draft: Draft) -> str | None:
    shape, wanted = draft.static(), draft.integers(1)
    if shape is None or wanted is None:
        return "opset 7 has no operator Expand (from opset 8), and here the shapes are not known"
    rank = max(len(shape), len(wanted))
    own, goal = ((1,) * (rank - len(s)) + tuple(s) for s in (shape, wanted))
    x = draft.input(0) if len(shape) == rank else draft.add("Reshape", draft.input(0), draft.ints(*own))
    times = [want if have == 1 else 1 for have, want in zip(own, goal, strict=True)]
    draft.add("Tile", x, draft.ints(*times), into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {("Expand", 8): repeated}
