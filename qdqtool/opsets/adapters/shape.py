"""Shape: a part of it, from 15 on."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def sliced(draft: Draft) -> str | None:
    end = draft.get("end")
    bounds = [draft.ints(draft.get("start") or 0), draft.ints((1 << 63) - 1 if end is None else end), draft.ints(0)]
    whole = draft.fresh("shape")
    draft.keep(outputs=[whole], start=None, end=None)
    draft.add("Slice", whole, *bounds, into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {("Shape", 15): sliced}
