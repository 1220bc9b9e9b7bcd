"""Plain arithmetic on constants, as ONNX Runtime computes it: one rounding for each operation, float16 and bfloat16 through float32."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from qdqtool.kernels.sources import Array

OPERATIONS: Mapping[str, Callable[..., Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Neg": np.negative,
    "Sqrt": np.sqrt,
}
"""Operations that IEEE 754 rounds correctly, so that every implementation gives the same bits."""


def arithmetic(op: str, *operands: Array) -> Array:
    """One of `OPERATIONS` on operands of one float type, broadcast against each other; the result has their type."""
    dtype: np.dtype[Any] = operands[0].dtype
    wide = np.float64 if dtype == np.float64 else np.float32
    with np.errstate(all="ignore"):
        return np.asarray(OPERATIONS[op](*(o.astype(wide) for o in operands))).astype(dtype)
