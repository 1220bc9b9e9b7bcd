"""Two results of one place for the same operands: equal, parted by rounding, or really different."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import ml_dtypes
import numpy as np
from onnx import NodeProto

from qdqtool import dtypes
from qdqtool.check.compare import Difference, compare
from qdqtool.check.numbers import maximum, wide
from qdqtool.check.roles import Grid
from qdqtool.comparing.sides import Side
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.kernels.layout import misfit, spread
from qdqtool.kernels.sources import Array

Level = Literal["equal", "rounding", "different"]

# Shares of the largest value by which sums in another order may lie apart: measured up to 7e-7 (float32); a few units of float16.
_SHARES = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
_MOVES = ("Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Gather", "Slice", "Concat", "Split", "Pad", "Where")
_EXACT = frozenset((*_MOVES, "DequantizeLinear", "Relu", "Clip", "MaxPool"))
_STEPS = ("QuantizeLinear", "DequantizeLinear")
_ROUNDING = ("Quantize", "QLinear", "QGemm", "DynamicQuantize")
_ULPS = 2
# How much further apart whole units may lie than single nodes: convolutions with what follows them (measured up to 5e-5).
_JOINED = 50
# How near to a tie a quotient lies that two divisions may round apart, as such and as a share of itself.
_NEAR_TIE, _NEAR_SHARE = 1e-4, 5e-7
_TIE = 1e-9
# Of results that are rounded to codes behind sums in another order; measured up to 7 %.
_FEW = 0.25
_STEP = 1.01


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was measured, and how it counts; `ties` tells that every difference is at a tie between two codes."""

    level: Level
    difference: Difference
    ties: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """How a value came about: the nodes of either model, the operands that both were fed with, whether one runtime ran both, and by
    how many quantization steps the second is known to be off. `joined`: they are a unit that a runtime may compute as one.
    """

    a: Side
    before: Sequence[NodeProto]
    after: Sequence[NodeProto]
    values: Mapping[str, Array]
    one_runtime: bool
    steps: int = 1
    joined: bool = False


def judge(old: Array, new: Array, origin: Origin) -> Judgement:
    """Judge one value that both models computed from the same operands."""
    verdict, difference = compare(old, new, exactness=Exactness.VALUE_EQUAL)
    if verdict == "equal":
        return Judgement("equal", difference)
    if old.shape != new.shape or old.dtype.kind in "OUSb" or not difference.count:
        return Judgement("different", difference)
    if dtypes.of_numpy(old.dtype).integer or dtypes.of_numpy(old.dtype).small_float:
        return _codes(old, new, origin, difference)
    return Judgement("rounding" if _rounded(old, new, origin, difference) else "different", difference)


def _rounded(old: Array, new: Array, origin: Origin, difference: Difference) -> bool:
    """Real numbers: a few ulps, a small share of the largest, or one step where codes lie in between."""
    nodes = (*origin.before, *origin.after)
    gap = np.abs(wide(old) - wide(new))
    if np.isnan(gap).any():
        return False
    if difference.ulps <= _ULPS or (origin.one_runtime and all(node.op_type in _EXACT for node in nodes)):
        return difference.ulps <= _ULPS
    if gap.max() <= _SHARES.get(str(old.dtype), 0.0) * maximum(wide(old)) * (_JOINED if origin.joined else 1):
        return True
    if not any(node.op_type.startswith(_ROUNDING) for node in nodes) or not _few(difference, origin):
        return False
    step = _largest_step(origin.before, origin.a, np.abs(wide(old)))
    return bool(np.all(gap <= _STEP * step * origin.steps) and np.any(step))


def _few(difference: Difference, origin: Origin) -> bool:
    """Where steps are off by one only, most values are not."""
    return origin.steps > 1 or difference.count <= max(1.0, _FEW * difference.elements)


def _codes(old: Array, new: Array, origin: Origin, difference: Difference) -> Judgement:
    if difference.greatest > origin.steps:
        return Judgement("different", difference)
    quotients = _quotients(origin.before, origin.a, origin.values)
    if quotients is not None and quotients.shape == old.shape and origin.steps == 1:
        offset = np.abs(quotients - np.floor(quotients) - 0.5)
        # Another runtime may divide the whole range of codes, and so err by a share of that.
        reach = np.abs(quotients) if origin.one_runtime else 2.0 ** dtypes.of_numpy(old.dtype).bits
        differs = wide(old) != wide(new)
        near = bool(np.all((offset <= _NEAR_TIE + _NEAR_SHARE * reach)[differs]))
        return Judgement("rounding" if near else "different", difference, ties=bool(np.all(offset[differs] <= _TIE)))
    return Judgement("rounding" if _few(difference, origin) else "different", difference)


def _quotients(before: Sequence[NodeProto], a: Side, values: Mapping[str, Array]) -> Array | None:
    """What a lone quantize step rounds; None for anything else."""
    if len(before) != 1 or before[0].op_type != "QuantizeLinear" or before[0].input[0] not in values:
        return None
    grid, x = grid_of(before[0], a), values[before[0].input[0]]
    if grid is None or misfit(x.shape, grid.scale.shape, None, grid.axis, grid.block):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(wide(x) / spread(grid.scale, x.shape, grid.axis, grid.block).astype(np.float64))


def grid_of(node: NodeProto, side: Side) -> Grid | None:
    """Constant parameters of a quantize or dequantize node."""
    scale = side.constant(node.input[1]) if len(node.input) > 1 else None
    zero = side.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else None
    return None if scale is None else Grid(scale, zero, {attribute.name: attribute.i for attribute in node.attribute})


def _largest_step(nodes: Sequence[NodeProto], side: Side, sizes: Array) -> Array:
    """The largest scale among the quantize and dequantize steps of a place; steps of small floats grow with the values."""
    grids = [grid for node in nodes if node.op_type in _STEPS and (grid := grid_of(node, side)) is not None]
    growing = max((_relative_step(grid.storage) for grid in grids if grid.storage.small_float), default=0.0)
    return np.maximum(max((maximum(wide(grid.scale)) for grid in grids), default=0.0), growing * sizes)


def _relative_step(dtype: ElementType) -> float:
    """How far apart two neighbours of a small float are, as a share of their size."""
    return float(ml_dtypes.finfo(dtype.numpy).eps)  # type: ignore[no-untyped-call]
