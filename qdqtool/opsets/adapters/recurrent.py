"""RNN, GRU and LSTM: the batch may come first from 14 on."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft

FAMILY = ("RNN", "GRU", "LSTM")


def sequence_first(draft: Draft) -> str | None:
    if not draft.get("layout"):
        return ""
    inputs = list(draft.node.input)
    for index in (0, 5, 6):
        if draft.input(index):
            inputs[index] = draft.add("Transpose", draft.input(index), perm=[1, 0, 2])
    outputs = [draft.fresh("turned") if name else "" for name in draft.node.output]
    draft.keep(inputs=inputs, outputs=outputs, layout=None)
    for index, (name, inner) in enumerate(zip(draft.node.output, outputs, strict=True)):
        if name:
            draft.add("Transpose", inner, into=name, perm=[1, 0, 2] if index else [2, 0, 1, 3])
    return None


DOWN: Mapping[Key, Adapter] = {(op, 14): sequence_first for op in FAMILY}
