"""Buffers that a thread uses again and again, since touching fresh memory costs more than the arithmetic on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from qdqtool.kernels.sources import Array

_BUFFERS = threading.local()
_DEPTH = "depth"


@contextmanager
def own_scratch() -> Iterator[None]:
    """Within it the buffers are others than outside: one evaluation may read a constant that is evaluated itself."""
    held: dict[Any, Any] = _BUFFERS.__dict__
    held[_DEPTH] = held.get(_DEPTH, 0) + 1
    try:
        yield
    finally:
        held[_DEPTH] -= 1


def scratch(purpose: str, count: int, dtype: Any) -> Array:
    """`count` elements whose content is anything; the same memory at each call of this thread with the same purpose and type."""
    held: dict[Any, Any] = _BUFFERS.__dict__
    key = held.get(_DEPTH, 0), purpose, dtype
    found: Array | None = held.get(key)
    if found is None or found.size < count:
        found = held[key] = np.empty(count, dtype)
    return found[:count]
