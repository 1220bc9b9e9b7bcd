"""Gelu in the order of operations of ONNX Runtime's kernel: near -1 the error function loses digits, in any other order others."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, sqrt

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def said(draft: Draft) -> str | None:
    """Half of x, times one more than the error function or its approximation."""
    dtype, x = draft.type(0), draft.input(0)
    if dtype is None:
        return f"the type of {x} is not known here, and the constants of Gelu have that type"
    wide = dtype if dtype in (dtypes.FLOAT, dtypes.DOUBLE) else dtypes.FLOAT
    x = x if wide is dtype else draft.cast(x, wide)
    cut = _tanh(draft, x, wide) if draft.get("approximate") == "tanh" else _erf(draft, x, wide)
    half = draft.add("Mul", x, draft.scalar(0.5, wide))
    one_more = draft.add("Add", cut, draft.scalar(1, wide))
    y = draft.add("Mul", half, one_more, into=draft.output(0) if wide is dtype else "")
    if wide is not dtype:
        draft.cast(y, dtype, draft.output(0))
    draft.rounds()
    return None


def _erf(draft: Draft, x: str, dtype: dtypes.ElementType) -> str:
    return draft.add("Erf", draft.add("Mul", x, draft.scalar(sqrt(0.5), dtype)))


def _tanh(draft: Draft, x: str, dtype: dtypes.ElementType) -> str:
    """``tanh(x * (sqrt(2 / pi) + 0.044715 * sqrt(2 / pi) * x * x))``."""
    square = draft.add("Mul", draft.add("Mul", draft.scalar(0.044715 * sqrt(2 / pi), dtype), x), x)
    return draft.add("Tanh", draft.add("Mul", x, draft.add("Add", square, draft.scalar(sqrt(2 / pi), dtype))))


DOWN: Mapping[Key, Adapter] = {("Gelu", 20): said}
