"""Attention by its function body, but for what ONNX Runtime does otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool import dtypes
from qdqtool.opsets import bodies
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def expanded(draft: Draft) -> str | None:
    """Scores given before the softmax hold minus infinity where they are masked, in ONNX Runtime the lowest number."""
    masked = draft.get("is_causal") or draft.type(3) is dtypes.BOOL
    if draft.output(3) and draft.get("qk_matmul_output_mode") in (1, 2) and masked:
        return "the masked scores that Attention gives differ between its function body and ONNX Runtime"
    return bodies.expand(draft)


DOWN: Mapping[Key, Adapter] = {("Attention", version): expanded for version in (23, 24, 25)}
UP: Mapping[Key, Adapter] = {("Attention", version): expanded for version in (24, 25)}
