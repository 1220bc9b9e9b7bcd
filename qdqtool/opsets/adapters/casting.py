"""CastLike is a Cast to a type that is known."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def to_cast(draft: Draft) -> str | None:
    dtype = draft.type(1)
    if dtype is None:
        return f"the type of {draft.input(1)} is not known here, to which CastLike would cast"
    modes = {name: draft.get(name) for name in ("saturate", "round_mode") if any(a.name == name for a in draft.node.attribute)}
    draft.add("Cast", draft.input(0), into=draft.output(0), opset=draft.here, to=dtype.code, **modes)
    return None


DOWN: Mapping[Key, Adapter] = {("CastLike", version): to_cast for version in (15, 19, 21, 23, 24, 25)}
