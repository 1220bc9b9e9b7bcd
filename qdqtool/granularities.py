"""How the scales of a step spread over its elements, by shapes, axis and block; or which rule of the specification the shapes break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qdqtool.quantization import Blocked, ByScale, Granularity, PerAxis, PerTensor

Shape = tuple[int | None, ...]

Kind = Literal["axis", "rank", "length", "block", "block rank", "blocks", "block others"]


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why shapes have no meaning: the rule that is broken, and how, in words."""

    kind: Kind
    text: str


def fit(x: Shape | None, scale: Shape | None, axis: int, block: int) -> Granularity | Misfit:
    """What a scale of that shape is for; `block` is 0 without blocks. Unknown shapes and sizes are taken to fit."""
    if scale is None:
        return _unknown_rank(x, axis, block)
    if block:
        return _blocked(x, scale, axis, block)
    if len(scale) == 0 or scale == (1,):
        return PerTensor()
    return _vector(x, scale, axis)


def _unknown_rank(x: Shape | None, axis: int, block: int) -> Granularity | Misfit:
    at = _place(x, axis)
    if isinstance(at, Misfit):
        return at if block else PerTensor()
    return Blocked(at, block) if block else ByScale(at)


def _place(x: Shape | None, axis: int) -> int | Misfit:
    """`axis` counted from the front where the rank is known."""
    if x is None:
        return axis
    if not -len(x) <= axis < len(x):
        return Misfit("axis", f"axis {axis} does not exist in an input of rank {len(x)}")
    return axis + (len(x) if axis < 0 else 0)


def _vector(x: Shape | None, scale: Shape, axis: int) -> Granularity | Misfit:
    at = _place(x, axis)
    if len(scale) > 1:
        return Misfit("rank", f"without block_size a scale is a scalar or a vector, not of rank {len(scale)}")
    if isinstance(at, Misfit):
        return PerTensor() if scale[0] is None else at
    if x is not None and None not in (scale[0], x[at]) and scale[0] != x[at]:
        return Misfit("length", f"axis {at} has length {x[at]} and asks for as many scales, not {scale[0]}")
    return PerAxis(at)


def _blocked(x: Shape | None, scale: Shape, axis: int, block: int) -> Granularity | Misfit:
    if block < 0:
        return Misfit("block", f"block_size {block} is negative")
    at = _place(x, axis)
    if x is not None and len(scale) != len(x):
        return Misfit("block rank", f"with block_size the scale has the rank of the input, {len(x)}, not {len(scale)}")
    if isinstance(at, Misfit) or x is None:
        return at if isinstance(at, Misfit) else Blocked(at, block)
    return _misfit_of_blocks(x, scale, at, block) or Blocked(at, block)


def _misfit_of_blocks(x: Shape, scale: Shape, at: int, block: int) -> Misfit | None:
    for place, (have, want) in enumerate(zip(scale, x, strict=True)):
        if place != at and None not in (have, want) and have != want:
            return Misfit("block others", f"blocks lie along axis {at}, so the scale has length {want} along axis {place}, not {have}")
    size = x[at]
    if size is not None and scale[at] is not None and scale[at] != -(-size // block):
        count = -(-size // block)
        return Misfit("blocks", f"blocks of {block} along axis {at} of length {size} ask for {count} scales there, not {scale[at]}")
    return None


def fitting_axes(x: Shape, scale: Shape, block: int) -> list[int]:
    """The axes along which blocks of that size would fit."""
    return [axis for axis in range(len(x)) if not isinstance(fit(x, scale, axis, block), Misfit)]
