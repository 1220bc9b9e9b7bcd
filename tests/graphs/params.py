"""The quantization parameters a step can have: types by opset, granularities, scales and zero points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from tests.graphs.draft import MICROSOFT, Draft, digest

D = dtypes
OPSETS = (10, 13, 19, 21, 23, 24, 25, 28)
SINCE: dict[ElementType, int] = {
    D.UINT8: 10,
    D.INT8: 10,
    D.INT32: 10,
    **dict.fromkeys(D.FLOAT8, 19),
    D.INT16: 21,
    D.UINT16: 21,
    D.INT4: 21,
    D.UINT4: 21,
    D.FLOAT4E2M1: 23,
    D.INT2: 25,
    D.UINT2: 25,
    D.FLOAT6E2M3: 28,
    D.FLOAT6E3M2: 28,
}
SCALE_SINCE = {D.FLOAT: 10, D.FLOAT16: 19, D.BFLOAT16: 19, D.FLOAT8E8M0: 24}
IN_MICROSOFT = (D.INT8, D.UINT8, D.INT16, D.UINT16, D.INT4, D.UINT4, D.INT32)
ZEROS = ("none", "zero", "even", "odd")
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Granularity:
    """The attributes as written (None: left out) and the shape of x when the form does not set it."""

    axis: int | None
    block: int | None
    shape: tuple[int, ...]
    ones: bool = False

    def scale_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        if self.block:
            assert self.axis is not None
            k = self.axis % len(shape)
            return tuple(ceil(n / self.block) if i == k else n for i, n in enumerate(shape))
        if self.axis is None and not self.per_default_axis:
            return (1,) if self.ones else ()
        return (shape[1 if self.axis is None else self.axis],)

    @property
    def per_default_axis(self) -> bool:
        return self.axis is None and self.block == 0

    @property
    def since(self) -> int:
        if self.block:
            return 21
        return 10 if self.axis is None and self.block is None else 13


GRANULARITIES = {
    "scalar": Granularity(None, None, (3, 4)),
    "ones": Granularity(None, None, (3, 4), ones=True),
    "axis0": Granularity(0, None, (3, 4)),
    "axis1": Granularity(1, None, (2, 3, 2)),
    "axis_minus1": Granularity(-1, None, (3, 4)),
    "axis_last": Granularity(2, None, (2, 2, 3)),
    "axis_default": Granularity(None, 0, (2, 3)),
    "first": Granularity(0, 3, (6, 4)),
    "middle": Granularity(1, 2, (2, 6, 3)),
    "last": Granularity(-1, 2, (4, 6)),
    "ragged": Granularity(1, 3, (3, 7)),
    "ragged_first": Granularity(0, 4, (6, 3)),
    "one_block": Granularity(1, 6, (4, 6)),
    "wide_block": Granularity(1, 8, (4, 6)),
    "block1": Granularity(1, 1, (2, 3)),
}
MATRIX = ("scalar", "ones", "axis0", "axis_minus1", "axis_default", "first", "last", "ragged", "ragged_first", "one_block", "block1")
KERNEL = ("scalar", "ones", "axis0", "first", "last", "ragged")


@dataclass(frozen=True, slots=True)
class Params:
    """One cell of a grid."""

    opset: int
    domain: str
    storage: ElementType
    grain: str
    scale: ElementType
    zero: str

    @property
    def granularity(self) -> Granularity:
        return GRANULARITIES[self.grain]

    @property
    def real(self) -> ElementType:
        """The real values' type that goes with this scale."""
        return D.FLOAT if self.scale is D.FLOAT8E8M0 else self.scale

    @property
    def place(self) -> tuple[int, str]:
        return (self.opset, self.domain)

    @property
    def label(self) -> str:
        where = "ms" if self.domain else "at"
        return f"{self.storage}-{self.grain}-{self.scale}-{self.zero}-{where}{self.opset}"


def legal(p: Params) -> bool:
    """Is there such a DequantizeLinear?"""
    if p.domain:
        return p.storage in IN_MICROSOFT and p.scale in (D.FLOAT, D.FLOAT16) and not p.granularity.block and p.grain != "axis_default"
    if p.opset < max(SINCE[p.storage], SCALE_SINCE[p.scale], p.granularity.since):
        return False
    return p.zero in ("none", "zero") if p.storage.kind == "float" or p.storage is D.INT32 else True


def can_quantize(p: Params) -> bool:
    """Is there such a QuantizeLinear? Without a zero point, 21 and later need output_dtype for anything but uint8."""
    if not legal(p) or p.storage is D.INT32:
        return False
    return p.zero != "none" or p.storage is D.UINT8 or (p.opset >= 21 and not p.domain)


def all_params() -> list[Params]:
    """Every legal cell, in an order that depends on the names alone."""
    places = [(o, "") for o in OPSETS] + [(o, MICROSOFT) for o in (13, 17, 21)]
    cells = [Params(o, d, t, g, s, z) for o, d in places for t in SINCE for g in GRANULARITIES for s in SCALE_SINCE for z in ZEROS]
    return sorted(filter(legal, cells), key=lambda p: digest(p.label))


PAIRS = tuple(combinations(("place", "storage", "grain", "scale", "zero"), 2))
THREES = (*PAIRS, ("place", "storage", "scale"), ("place", "grain", "scale"))


def covering(cells: Sequence[Params], groups: Sequence[tuple[str, ...]]) -> list[Params]:
    """A few cells that hold, for every group of fields, each combination of values that any cell holds."""
    parts = [{(g, *(getattr(p, n) for n in g)) for g in groups} for p in cells]
    seen: set[tuple[Any, ...]] = set()
    taken: list[Params] = []
    for least in range(len(groups), 0, -1):
        for p, part in zip(cells, parts, strict=True):
            if len(part - seen) >= least:
                seen |= part
                taken.append(p)
    return taken


def codes(draft: Draft, storage: ElementType, shape: Sequence[int]) -> Array:
    """Random codes of all finite values, extremes among them."""
    if storage.kind == "float":
        bits = np.arange(1 << storage.bits, dtype=np.uint8).view(storage.numpy)
        finite = bits[np.isfinite(bits.astype(np.float32))]
        return finite[draft.rng.integers(0, len(finite), tuple(shape))]
    low, high = (-100_000, 100_000) if storage is D.INT32 else (int(storage.low), int(storage.high))
    return draft.rng.integers(low, high, tuple(shape), endpoint=True).astype(storage.numpy)


def scales(draft: Draft, dtype: ElementType, shape: Sequence[int]) -> Array:
    """Positive scales, some exact powers of two so that ties happen."""
    powers = 2.0 ** draft.rng.integers(-6, 2, tuple(shape))
    factors = draft.rng.choice([1.0, 1.0, 1.3, 0.7, 1.1000001], tuple(shape))
    return np.asarray(powers if dtype is D.FLOAT8E8M0 else powers * factors).astype(dtype.numpy)


def zero_points(draft: Draft, storage: ElementType, kind: str, shape: Sequence[int]) -> Array:
    """Zero points near the middle of the range, of the parity asked for."""
    if kind == "zero" or storage.kind == "float":
        return np.zeros(tuple(shape), storage.numpy)
    span = max(1, (int(storage.high) - int(storage.low)) // 8)
    middle = (int(storage.high) + int(storage.low) + 1) // 2
    drawn = middle + draft.rng.integers(-span, span + 1, tuple(shape))
    wanted = 1 if kind == "odd" else 0
    return np.where(drawn % 2 == wanted, drawn, drawn - 1).clip(storage.low, storage.high).astype(storage.numpy)


@dataclass(frozen=True, slots=True)
class Operands:
    """Names of scale and zero point ("" for none)."""

    scale: str
    zero: str


def operands(draft: Draft, p: Params, shape: Sequence[int], stem: str = "", by: float = 1.0) -> Operands:
    """Scale (times `by`) and zero point as initializers."""
    size = p.granularity.scale_shape(shape)
    scale = draft.constant(f"{stem}scale", (scales(draft, p.scale, size) * by).astype(p.scale.numpy))
    zero = "" if p.zero == "none" else draft.constant(f"{stem}zero", zero_points(draft, p.storage, p.zero, size))
    return Operands(scale, zero)


def grain_attributes(p: Params) -> Mapping[str, Any]:
    block = p.granularity.block or None
    return {"axis": p.granularity.axis, "block_size": block}


def quantize(draft: Draft, p: Params, x: str, shape: Sequence[int], by: Operands | None = None, **more: Any) -> str:
    """A QuantizeLinear as the cell says."""
    by = by or operands(draft, p, shape, "q_")
    attributes = {**grain_attributes(p), **more}
    if not by.zero and p.storage is not D.UINT8:
        attributes["output_dtype"] = p.storage.code
    if p.scale is D.FLOAT8E8M0:
        attributes.setdefault("precision", D.FLOAT.code)
    return draft.quantize(x, by.scale, by.zero, **attributes)


def dequantize(draft: Draft, p: Params, q: str, shape: Sequence[int], by: Operands | None = None, **more: Any) -> str:
    """A DequantizeLinear as the cell says."""
    by = by or operands(draft, p, shape)
    attributes = {**grain_attributes(p), **more}
    if p.scale is D.FLOAT8E8M0:
        attributes.setdefault("output_dtype", D.FLOAT.code)
    return draft.dequantize(q, by.scale, by.zero, **attributes)


def each(cells: Sequence[Params], grains: Sequence[str] | None = None) -> Iterator[Params]:
    return (p for p in cells if grains is None or p.grain in grains)
