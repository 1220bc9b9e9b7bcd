"""Values of any element type as numbers that can be subtracted, and how close neighbours are in their own type."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from qdqtool import dtypes
from qdqtool.kernels.sources import Array


def spacing(values: Array) -> Array:
    """Distance of each value from its neighbour in its own type; 1 for integers."""
    if not is_float(values):
        return np.ones(values.shape)
    dtype = dtypes.of_numpy(values.dtype)
    if dtype.bits > 8 and values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            spacing = np.abs(np.spacing(values)).astype(np.float64)
        return np.where(np.isfinite(spacing), spacing, 1.0)
    info = ml_dtypes.finfo(values.dtype)  # type: ignore[no-untyped-call]
    magnitude = np.abs(wide(values))
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(magnitude, float(info.smallest_normal))))
    return np.where(np.isfinite(magnitude), 2.0 ** np.where(np.isfinite(exponent), exponent, 0) * float(info.eps), 1.0)


def maximum(values: Array) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def wide(values: Array) -> Array:
    """A type that holds every value of the others, but for 64-bit integers beyond 2**53."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        return values.astype(np.longdouble)
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def nan(values: Array) -> Array:
    return np.asarray(np.isnan(values)) if is_float(values) or values.dtype.kind == "c" else np.zeros(values.shape, np.bool_)


def is_float(values: Array) -> bool:
    return values.dtype.kind == "f" or dtypes.of_numpy(values.dtype).kind == "float"
