"""Dropout in inference: it gives its input, and a mask whose type changed at 10 and whose meaning changed at 12."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import TensorProto, helper

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft

TRAINING = "Dropout in training draws its own random numbers"


def to_input(draft: Draft) -> str | None:
    """Before 12 inference keeps everything and the mask is false."""
    draft.keep(outputs=[draft.output(0)], ratio=None)
    _mask(draft, False)
    return None


def to_attribute(draft: Draft) -> str | None:
    mode = draft.value(2)
    if draft.input(2) and (mode is None or mode.any()):
        return TRAINING
    draft.keep(inputs=[draft.input(0)], outputs=[draft.output(0)], seed=None)
    _mask(draft, True)
    return None


def boolean_mask(draft: Draft) -> str | None:
    """The mask had the type of the data; in inference nothing is said of it, and ONNX Runtime gives zeros."""
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, which is that of the mask up to opset 9"
    mask = draft.fresh("mask")
    draft.keep(outputs=[draft.output(0), mask])
    draft.cast(mask, dtype, draft.output(1))
    return None


def _mask(draft: Draft, value: bool) -> None:
    if draft.output(1):
        fill = helper.make_tensor("value", TensorProto.BOOL, [1], [value])
        draft.add("ConstantOfShape", draft.add("Shape", draft.input(0)), into=draft.output(1), value=fill)


UP: Mapping[Key, Adapter] = {("Dropout", 10): boolean_mask, ("Dropout", 12): to_input}
DOWN: Mapping[Key, Adapter] = {("Dropout", 12): to_attribute}
