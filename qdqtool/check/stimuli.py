"""Inputs for a fragment, rich in ties and extremes: every code, half steps of every scale and their neighbours, both ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from zlib import crc32

import numpy as np

from qdqtool.check.pools import EXTREMES, codes, converted, half_steps, nudged, ordinary_scales, scales, typed
from qdqtool.check.probe import Port, Probe
from qdqtool.check.roles import Grid, Role, grids, live_grids, nan_is_open, roles
from qdqtool.check.shapes import Shapes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.layout import misfit, spread
from qdqtool.kernels.sources import Array, materialize

Inputs = dict[str, Array]

_VALUES = 4096
_MOST_RUNS = 64
_SCALES_RUNS = 4


@dataclass(frozen=True, slots=True)
class _Draw:
    """One input in one run."""

    port: Port
    carrier: ElementType
    role: Role | None
    grid: Grid | None
    shape: tuple[int, ...]
    run: int
    rng: np.random.Generator
    finite: bool
    no_nan: bool


def stimuli(probe: Probe, shapes: Shapes, seed: int) -> Iterator[Inputs]:
    """Inputs for both fragments of a probe, under the names of `before`; the same for the same seed.

    Values a carrier cannot hold (NaN and -0 in an integer) are left out, and so is NaN where the spec leaves it open.
    """
    fragment = probe.before
    # A fused operator does not show what its operands are for; the steps that stand for it do.
    part, found = {**(roles(probe.after) if probe.ordinary else {}), **roles(fragment)}, {**grids(probe.after), **grids(fragment)}
    no_nan = nan_is_open(fragment) or nan_is_open(probe.after)
    finite = probe.ordinary or any(node.op_type == "DynamicQuantizeLinear" for node in fragment.nodes)
    ports = list(zip(fragment.inputs, (port.dtype for port in probe.after.inputs), strict=True))
    for run in range(_runs(shapes, finite or "scale" in part.values())):
        rng = np.random.default_rng([seed, crc32(probe.place.encode()), run])
        draws = [_Draw(p, other, part.get(p.name), found.get(p.name), shapes[p.name], run, rng, finite, no_nan) for p, other in ports]
        drawn = {draw.port.name: _values(draw) for draw in draws if draw.role != "values"}
        live = {**live_grids(fragment, drawn), **found}
        drawn |= {draw.port.name: _values(replace(draw, grid=live.get(draw.port.name))) for draw in draws if draw.role == "values"}
        yield {draw.port.name: drawn[draw.port.name] for draw in draws}


def _runs(shapes: Shapes, scaled: bool) -> int:
    """Small inputs take several runs to see all values, and so do scales; without inputs there is but one."""
    total = sum(prod(shape) for shape in shapes.values())
    return max(_SCALES_RUNS if scaled else 1, min(_MOST_RUNS, _VALUES // max(total, 1))) if shapes else 1


def _values(draw: _Draw) -> Array:
    dtype = draw.port.dtype
    if draw.role is None and draw.port.default is not None:
        return materialize(draw.port.default).reshape(draw.port.default.shape)
    if draw.role == "zero point" and not (dtype.integer and dtype.bits <= 16):
        return np.zeros(draw.shape, dtype.numpy)
    if draw.role == "scale":
        return _dealt(ordinary_scales(dtype) if draw.finite else scales(dtype), draw)
    if dtype.kind == "float" and not dtype.small_float:
        return _reals(draw)
    if draw.role == "values" and draw.grid is not None and (reals := _on_grid(draw.grid, draw)) is not None:
        return np.asarray(np.clip(np.nan_to_num(np.rint(reals)), dtype.low, dtype.high).astype(dtype.numpy))
    if dtype.integer or dtype.small_float:
        return _dealt(codes(dtype, draw.carrier, draw.no_nan), draw)
    return draw.rng.integers(0, 2, draw.shape).astype(dtype.numpy)


def _reals(draw: _Draw) -> Array:
    dtype = draw.port.dtype
    reals = _on_grid(draw.grid, draw) if draw.grid is not None else None
    values = nudged(typed(reals if reals is not None else _plain(draw), dtype), dtype, draw.rng)
    return np.asarray(np.where(np.isnan(values), np.zeros((), dtype.numpy), values)) if draw.no_nan else values


def _dealt(pool: Array, draw: _Draw) -> Array:
    """Values of a pool in an array: each run goes on where the last one ended, so that few are missed."""
    count = prod(draw.shape)
    mixed = np.random.default_rng(pool.size).permutation(pool)
    return draw.rng.permutation(mixed[(np.arange(count) + draw.run * count) % pool.size]).reshape(draw.shape)


def _on_grid(grid: Grid, draw: _Draw) -> Array | None:
    """Half steps from below the lowest code to above the highest, extremes between them; None when the grid does not fit."""
    shape = draw.shape
    if misfit(shape, grid.scale.shape, None if grid.zero_point is None else grid.zero_point.shape, grid.axis, grid.block):
        return None
    scale = np.broadcast_to(spread(grid.scale, shape, grid.axis, grid.block).astype(np.float64), shape)
    zero = np.zeros(shape)
    if grid.zero_point is not None:
        zero = np.broadcast_to(spread(grid.zero_point, shape, grid.axis, grid.block).astype(np.float64), shape)
    storage = grid.storage
    steps = _dealt(half_steps(storage), draw)
    extremes = _dealt(EXTREMES, draw)
    with np.errstate(all="ignore"):
        reals = (steps - (zero if storage.integer else 0.0)) * scale
    return np.where(draw.rng.random(shape) < 0.1, extremes, reals)


def _plain(draw: _Draw) -> Array:
    """Where no grid is known: ordinary values; ties of a step of one; extremes in every second run.

    Finite values only come of all signs, as zeros, and of one sign, since a scale will be made of them.
    """
    rng, shape = draw.rng, draw.shape
    values = rng.normal(0, 4, shape)
    values = np.where(rng.random(shape) < 0.3, np.rint(values * 2) / 2, values)
    if draw.finite:
        return (values, np.zeros(shape), np.abs(values), -np.abs(values))[draw.run % 4]
    if draw.run % 2:
        return values
    return np.where(rng.random(shape) < 0.2, _dealt(EXTREMES, draw), values)


def at_carrier(inputs: Mapping[str, Array], probe: Probe) -> Inputs:
    """The same values under the names and in the types of `after`."""
    pairs = zip(probe.before.inputs, probe.after.inputs, strict=True)
    return {new.name: converted(inputs[old.name], new.dtype) for old, new in pairs}
