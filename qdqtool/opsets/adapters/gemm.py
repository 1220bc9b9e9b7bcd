"""Gemm: C may be left out from 11 on."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def zero_c(draft: Draft) -> str | None:
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, and Gemm needs a C of that type below opset 11"
    draft.keep(inputs=[draft.input(0), draft.input(1), draft.scalar(0, dtype)])
    return None


DOWN: Mapping[Key, Adapter] = {("Gemm", 11): zero_c}
