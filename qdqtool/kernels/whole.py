"""Constants that are small enough to be computed whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array


@dataclass(slots=True)
class Whole:
    """A small tensor computed at the first read, and forgotten once its end has been read."""

    make: Callable[[], Array]
    dtype: ElementType
    shape: tuple[int, ...]
    parallel: bool = False
    _array: Array | None = field(default=None, init=False)

    def read(self, start: int, stop: int) -> Array:
        array = self._array
        if array is None:
            array = np.ascontiguousarray(self.make()).reshape(-1)
        self._array = array if stop < array.size else None
        return array[start:stop]
