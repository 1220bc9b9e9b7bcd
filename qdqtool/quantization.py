"""The canonical meaning of a quantize or dequantize step, independent of ONNX (after MLIR's quant dialect).

Quantize:    ``q = saturate(round_half_even(x / scale) + zero_point)``; the division happens in `compute`.
Dequantize:  ``y = expressed(float32(q - zero_point) * float32(scale))``; one rounding at the end.
Any field may be None where the graph does not tell it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qdqtool.dtypes import ElementType

Kind = Literal["quantize", "dequantize"]
Rounding = Literal["half even", "half up", "half down", "half away", "half to zero", "up", "down", "away", "to zero"]


@dataclass(frozen=True, slots=True)
class PerTensor:
    """One scale for all elements."""

    def __str__(self) -> str:
        return "per tensor"


@dataclass(frozen=True, slots=True)
class PerAxis:
    """One scale for each index along `axis` (non-negative where the rank is known)."""

    axis: int

    def __str__(self) -> str:
        return f"per axis {self.axis}"


@dataclass(frozen=True, slots=True)
class Blocked:
    """One scale for every `block` consecutive elements along `axis`; the last block may be short."""

    axis: int
    block: int

    def __str__(self) -> str:
        return f"blocks of {self.block} along axis {self.axis}"


@dataclass(frozen=True, slots=True)
class Tiles:
    """One scale for each box of `lengths`, (axis, length) in order of the axes; an axis that is not named is not cut.

    The general form: axis k is ``Tiles(((k, 1),))``, and the scale keeps the rank of the data. No row of ONNX has it.
    """

    lengths: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return "tiles of " + " by ".join(f"{length} along axis {axis}" for axis, length in self.lengths)


@dataclass(frozen=True, slots=True)
class ByScale:
    """Per tensor or per `axis`: the rank of a run-time scale, which decides, is not known here."""

    axis: int

    def __str__(self) -> str:
        return f"per tensor or per axis {self.axis}, by a scale of unknown rank"


Granularity = PerTensor | PerAxis | Blocked | Tiles | ByScale


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a step computes.

    `expressed` is the type of the real values (input of a quantize, output of a dequantize), `scale_type` the type the
    scale is stored in, `compute` the type of a quantize step's division (None for dequantize, always float32).
    `saturate` matters for float8 storage only and is True elsewhere. No version of ONNX has another `rounding` than half to even.
    """

    kind: Kind
    storage: ElementType | None
    expressed: ElementType | None
    scale_type: ElementType | None
    granularity: Granularity | None
    compute: ElementType | None = None
    saturate: bool = True
    rounding: Rounding = "half even"

    def __str__(self) -> str:
        storage, expressed = self.storage or "?", self.expressed or "?"
        direction = f"{expressed} to {storage}" if self.kind == "quantize" else f"{storage} to {expressed}"
        text = f"{direction}, {self.granularity or 'granularity unknown'}, {self.scale_type or '?'} scale"
        if self.compute is not None and self.compute is not self.scale_type:
            text += f", divided in {self.compute}"
        text += "" if self.rounding == "half even" else f", rounded {self.rounding}"
        return text if self.saturate else text + ", not saturating"
