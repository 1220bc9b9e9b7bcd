"""Bits: shifts of signed integers came at 28, BitwiseNot at 18."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def signed(draft: Draft) -> str | None:
    """Shifted as 64 unsigned bits; to the right, a negative number is shifted as its complement."""
    dtype = draft.type(0)
    if dtype is None or dtype.kind != "int":
        return ""
    amount, right = draft.cast(draft.input(1), dtypes.UINT64), draft.get("direction") == "RIGHT"
    x = draft.cast(draft.input(0), dtypes.INT64)
    negative = draft.add("Less", x, draft.integer(0))
    bits = draft.add("Where", negative, _complement(draft, x), x) if right else x
    moved = draft.add("BitShift", draft.cast(bits, dtypes.UINT64), amount, direction=draft.get("direction"))
    back = draft.cast(moved, dtypes.INT64)
    if right:
        back = draft.add("Where", negative, _complement(draft, back), back)
    draft.cast(back, dtype, draft.output(0))
    return None


def _complement(draft: Draft, x: str) -> str:
    return draft.add("Sub", draft.integer(-1), x)


def inverted(draft: Draft) -> str | None:
    """All bits turned: the difference to a number of ones."""
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, and the ones that BitwiseNot turns depend on it"
    ones = -1 if dtype.kind == "int" else int(dtype.high)
    draft.add("Sub", draft.scalar(ones, dtype), draft.input(0), into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {("BitShift", 28): signed, ("BitwiseNot", 18): inverted}
