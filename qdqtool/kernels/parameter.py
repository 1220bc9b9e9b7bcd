"""The numbers of a scale or zero point: held while they are in use, if there are few, else read range by range."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.sources import Array, ArraySource, Source, size

HELD = 1 << 19
"""Parameters of at most so many elements are read once; longer ones again for each range."""

KEEPING = 8
"""Parameters held at a time: those of constants that are being computed, not of all that a model has."""


@dataclass(slots=True)
class Parameter:
    """A source as numbers of the type `kind`, of 32 bits; `through` is the type it is rounded to first, if any."""

    source: Source
    kind: Any
    through: ElementType | None = None
    count: int = field(init=False)
    _held: Array | None = field(default=None, init=False)
    _laid_out: Array | None = field(default=None, init=False)
    _blank: bool | None = field(default=None, init=False)
    _raised: dict[float, Parameter | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.count = size(self.source)

    def get(self, start: int, stop: int) -> Array:
        """The numbers of a flat range."""
        held = self._held
        if held is None:
            if self.count > HELD:
                return self._numbers(start, stop)
            held = self._held = self._numbers(0, self.count)
            _keep(self)
        return held[start:stop]

    def _numbers(self, start: int, stop: int) -> Array:
        found = self.source.read(start, stop)
        return (found if self.through is None else cast(found, self.through)).astype(self.kind)

    def laid_out(self, make: Callable[[], Array]) -> Array:
        """What `make` makes of the numbers, kept as long as they are."""
        found = self._laid_out
        if found is None:
            found = self._laid_out = make()
        return found

    @property
    def blank(self) -> bool:
        """All is +0, as far as it is worth while to know: subtracting it changes nothing."""
        if self._blank is None:
            self._blank = self.count <= HELD and not self.get(0, self.count).view(np.uint32).any()
        return self._blank

    def raised(self, power: float) -> Parameter | None:
        """The numbers times a power of two, where they are held; None when they are not, or would overflow."""
        known = self._raised
        if power not in known:
            known[power] = self._raise(power)
        return known[power]

    def _raise(self, power: float) -> Parameter | None:
        if self.count > HELD:
            return None
        held = self.get(0, self.count)
        with np.errstate(over="ignore", invalid="ignore"):
            more = held * np.float32(power)
        return None if np.isinf(more[np.isfinite(held)]).any() else Parameter(ArraySource(more), self.kind)

    def let_go(self) -> None:
        """Forget all that was read; it is read again when asked for."""
        self._held = self._laid_out = None
        self._raised = {}


_KEPT: deque[Parameter] = deque()


def _keep(parameter: Parameter) -> None:
    """Note that it holds something; the one that has done so longest lets go."""
    _KEPT.append(parameter)
    if len(_KEPT) > KEEPING:
        _KEPT.popleft().let_go()
