"""TopK: k became an input at 10; the smallest, and an order of no matter, came at 11."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def to_input(draft: Draft) -> str | None:
    draft.keep(inputs=[draft.input(0), draft.ints(draft.get("k"))], k=None)
    return None


def to_attribute(draft: Draft) -> str | None:
    k = draft.integers(1)
    if k is None:
        return "TopK takes k as an attribute up to opset 9, and here it is computed at run time"
    draft.keep(inputs=[draft.input(0)], k=k[0])
    return None


def largest(draft: Draft) -> str | None:
    """The smallest are the largest of the negatives; integers are compared as float64."""
    dtype = draft.type(0)
    if dtype is None or (dtype.integer and dtype.bits == 64):
        return f"TopK of {dtype or 'an unknown type'} needs opset 11"
    wide = dtypes.DOUBLE if dtype.integer else dtype
    x, negative = draft.input(0) if wide is dtype else draft.cast(draft.input(0), wide), not draft.get("largest")
    if not draft.get("sorted"):
        draft.approximates()
    inner = draft.add("Neg", x) if negative else x
    plain = wide is dtype and not negative
    found = draft.output(0) if plain else draft.fresh("found")
    draft.keep(inputs=[inner, draft.input(1)], outputs=[found, draft.output(1)], largest=None, sorted=None)
    if negative:
        found = draft.add("Neg", found, into=draft.output(0) if wide is dtype else "")
    if wide is not dtype:
        draft.cast(found, dtype, draft.output(0))
    return None


UP: Mapping[Key, Adapter] = {("TopK", 10): to_input}
DOWN: Mapping[Key, Adapter] = {("TopK", 10): to_attribute, ("TopK", 11): largest}
