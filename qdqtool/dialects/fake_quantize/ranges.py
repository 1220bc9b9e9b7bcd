"""The ranges of a FakeQuantize node, and the scale and zero point that a range of levels has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dialects import Asking, Impossible
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Expr, Op, Shape, is_const
from qdqtool.quantization import Granularity, PerAxis, PerTensor

DOMAIN = "org.openvinotoolkit"
SIGN, SCALE = "qdqtool.codes", "qdqtool.scale"
"""Remarks in the metadata of nodes: whether codes were signed, and steps that two ends do not tell."""

REALS = (dtypes.FLOAT, dtypes.FLOAT16)

Numbers = np.ndarray[Any, np.dtype[np.float64]]

_NAMES = ("input low", "input high", "output low", "output high")
_ENTRY = re.compile(r"(\d+):(0x[01]\.[\da-f]{1,13}p[+-]\d{1,3})(?!\S)")

MOST = 1 << 16
"""Levels."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Four ends, of one shape each, that broadcasts against the input."""

    levels: int
    input: tuple[Numbers, Numbers]
    output: tuple[Numbers, Numbers]


def read(op: Op, asking: Asking) -> Ranges | Impossible:
    """The ranges, or why they cannot be told."""
    levels, ends = dict(op.attributes).get("levels"), op.inputs[1:]
    if not isinstance(levels, int) or levels < 2 or levels > MOST:
        return Impossible(("it does not say how many levels it has" if levels is None else f"it has {levels} levels, not 2 to {MOST}",))
    wrong = tuple(f"its {name} is not constant here" for name, end in zip(_NAMES, ends, strict=False) if not is_const(end))
    if wrong or len(ends) != len(_NAMES):
        return Impossible(wrong or (f"it has {len(op.inputs)} operands, not 5",))
    try:
        low, high, least, most = np.broadcast_arrays(*(_numbers(end, asking) for end in ends))
    except ValueError:
        return Impossible(("the shapes of its ranges do not fit together",))
    x = op.inputs[0]
    if not low.size or not _fits(low.shape, None if x is None else x.shape):
        return Impossible((f"its ranges have the shape {list(low.shape)}, which does not fit its input",))
    if not all(np.isfinite(end).all() for end in (low, high, least, most)) or not (low < high).all():
        return Impossible(("an input range is empty, reversed or not finite",))
    return Ranges(levels, (low, high), (least, most))


def _fits(ends: tuple[int, ...], shape: Shape | None) -> bool:
    """Whether ends broadcast against an input, as far as its shape is known."""
    pairs = zip(reversed(ends), reversed(shape or ()), strict=False)
    return all(a in (1, b) or b in (None, 1) for a, b in pairs)


def _numbers(end: Expr | None, asking: Asking) -> Numbers:
    assert is_const(end)
    found: Numbers = asking.fact("numbers", end).reshape(end.shape)
    return found


def storages_of(levels: int, *, signed: bool = False) -> tuple[ElementType, ...]:
    """The types of ONNX that hold so many codes: with no more, and of 8 or 16 bits."""
    family = (dtypes.INT2, dtypes.INT4, dtypes.INT8, dtypes.INT16) if signed else (dtypes.UINT2, dtypes.UINT4, dtypes.UINT8, dtypes.UINT16)
    wide = next(t for t in family if t.bits >= 8 and levels <= 1 << t.bits)
    return tuple(dict.fromkeys((*(t for t in family if levels == 1 << t.bits), wide)))


def scale_of(low: Numbers, high: Numbers, levels: int, remark: str | None = None) -> Numbers:
    """The float32 step, of its neighbours one that gives both ends back; where several do, the one that `remark` tells."""
    found = (high - low) / (levels - 1)
    nearest = found.astype(np.float32)
    for step in (np.nextafter(nearest, np.float32(0)), np.nextafter(nearest, np.float32(np.inf)), nearest):
        found = np.where(_gives(step, low, high, levels), step, found.astype(np.float32))
    told = np.array(found, np.float64)
    for entry in _ENTRY.finditer(remark or ""):
        told.reshape(-1)[int(entry[1]) : int(entry[1]) + 1] = float.fromhex(entry[2])
    return np.where(_gives(told.astype(np.float32), low, high, levels), told, found).astype(np.float64)


def _gives(step: Any, low: Numbers, high: Numbers, levels: int) -> Any:
    """Whether the lowest level and the highest come out as these ends, in float32."""
    lowest = np.rint(low / step)
    ends = [(step * (lowest + n).astype(np.float32)).astype(np.float64) for n in (0, levels - 1)]
    return (ends[0] == low) & (ends[1] == high)


def remark_of(scale: Numbers, low: Numbers, high: Numbers, levels: int) -> str | None:
    """Steps that their ends do not tell, with their places; None where they tell all."""
    wrong = np.flatnonzero(scale_of(low, high, levels) != scale)
    return " ".join(f"{place}:{float(scale[place]).hex()}" for place in wrong) or None


def zero_point(low: Numbers, scale: Numbers, levels: int) -> Numbers | None:
    """The level that stands for 0; None where none does, but for the rounding of the ends."""
    level = -low / scale
    whole = np.rint(level)
    near = np.abs(level - whole) <= levels * 2.0**-22
    return whole if (near & (whole >= 0) & (whole < levels)).all() else None


def granularity(shape: tuple[int, ...], rank: int | None) -> Granularity | None:
    """What ends of this shape mean for an input of that rank; None for more than one axis, or an unknown rank."""
    along = [axis for axis, size in enumerate(shape) if size != 1]
    if not along:
        return PerTensor()
    return None if len(along) > 1 or rank is None or rank < len(shape) else PerAxis(along[0] + rank - len(shape))
