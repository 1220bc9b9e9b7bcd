"""Squeeze and Unsqueeze: axes became an input at 13."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def to_input(draft: Draft) -> str | None:
    draft.keep(inputs=[draft.input(0), draft.ints(*draft.get("axes"))], axes=None)
    return None


def to_attribute(draft: Draft) -> str | None:
    axes = draft.integers(1)
    if axes is None:
        return f"{draft.node.op_type} takes axes as an attribute up to opset 12, and here they are computed at run time"
    draft.keep(inputs=[draft.input(0)], axes=axes)
    return None


UP: Mapping[Key, Adapter] = {("Squeeze", 13): to_input, ("Unsqueeze", 13): to_input}
DOWN: Mapping[Key, Adapter] = {("Squeeze", 13): to_attribute, ("Unsqueeze", 13): to_attribute}
