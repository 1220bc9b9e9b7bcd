"""Dropout in inference: it gives its input, and a mask whose type changed at 10 and whose meaning changed at 12."""

from __future__ import annotations

from collections.abc import Mapping

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
    """The mask had the type of the data; in inference it is zeros."""
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, which is that of the mask up to opset 9"
    draft.keep(outputs=[draft.output(0)])
    draft.cast(draft.add("Less", draft.input(0), draft.input(0)), dtype, draft.output(1))
    return None


def mask_of_numbers(draft: Draft) -> str | None:
    draft.keep(outputs=[draft.output(0)])
    _mask(draft, False)
    return None


def _mask(draft: Draft, value: bool) -> None:
    """The same for all elements: nothing is less than itself."""
    if draft.output(1):
        less = draft.add("Less", draft.input(0), draft.input(0), into="" if value else draft.output(1))
        if value:
            draft.add("Not", less, into=draft.output(1))


UP: Mapping[Key, Adapter] = {("Dropout", 10): boolean_mask, ("Dropout", 12): to_input}
DOWN: Mapping[Key, Adapter] = {("Dropout", 10): mask_of_numbers, ("Dropout", 12): to_attribute}
