"""MatMulInteger (10) in float64, which holds every sum that fits into 32 bits."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def in_float64(draft: Draft) -> str | None:
    zero = draft.shape(2) if draft.input(2) else ()
    # A zero point for each row would have to become a column first.
    if zero is None or any(length != 1 for length in zero):
        return "opset 9 has no operator MatMulInteger (from opset 10), and its zero point is not one number here"
    a, b = (_centred(draft, index) for index in (0, 1))
    draft.cast(draft.add("MatMul", a, b), dtypes.INT32, draft.output(0))
    return None


def _centred(draft: Draft, index: int) -> str:
    values = draft.cast(draft.input(index), dtypes.DOUBLE)
    zero = draft.input(index + 2)
    return draft.add("Sub", values, draft.cast(zero, dtypes.DOUBLE)) if zero else values


DOWN: Mapping[Key, Adapter] = {("MatMulInteger", 10): in_float64}
