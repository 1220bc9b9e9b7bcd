"""How long each new constant takes to compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from qdqtool.dtypes import ElementType
from qdqtool.kernels import sources
from qdqtool.kernels.sources import Array, Source


@dataclass(frozen=True, slots=True)
class Watch:
    """Seconds of each reading, by the name of the constant; two threads may note at once."""

    readings: dict[str, list[float]] = field(default_factory=dict)

    def seconds(self, name: str) -> float:
        return sum(self.readings.get(name, ()))

    def watched(self, pending: Mapping[str, Source]) -> dict[str, Source]:
        """The same constants, their readings noted here."""
        return {name: Watched(source, self.readings.setdefault(name, [])) for name, source in pending.items()}


@dataclass(frozen=True, slots=True)
class Watched:
    """A source whose readings are noted; whatever else it can do it still can."""

    source: Source
    readings: list[float]

    @property
    def dtype(self) -> ElementType:
        return self.source.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.source.shape

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def read(self, start: int, stop: int) -> Array:
        begin = perf_counter()
        found = self.source.read(start, stop)
        self.readings.append(perf_counter() - begin)
        return found

    def fill(self, start: int, out: Array) -> None:
        begin = perf_counter()
        sources.fill(self.source, start, out)
        self.readings.append(perf_counter() - begin)
