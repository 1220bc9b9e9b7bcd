"""Products of small float constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array, Source, materialize


@dataclass(frozen=True, slots=True)
class Product:
    """Two small float constants multiplied, the second of them broadcast."""

    left: Source
    right: Source

    @property
    def dtype(self) -> ElementType:
        return self.left.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.left.shape

    def read(self, start: int, stop: int) -> Array:
        left, right = materialize(self.left), materialize(self.right)
        return np.asarray(left * right, self.dtype.numpy).reshape(-1)[start:stop]


def product(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(left, right)``: elementwise, in the type and shape of the first."""
    return Product(sources[0], sources[1])
