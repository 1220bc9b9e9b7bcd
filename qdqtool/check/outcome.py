"""One run of a step, judged under the step's own class and bound."""

from __future__ import annotations

import numpy as np

from qdqtool.check import fake_quantize
from qdqtool.check.compare import Difference, Verdict, compare
from qdqtool.check.probe import Fragment, Probe
from qdqtool.check.roles import grid_of, grids
from qdqtool.check.stimuli import Inputs
from qdqtool.errors import QdqtoolError
from qdqtool.kernels.layout import spread
from qdqtool.kernels.sources import Array


def outcome(probe: Probe, inputs: Inputs, old: Array, new: Array) -> tuple[Verdict, Difference]:
    """Judge one run of a probe under its own class and bound; `inputs` are those of `before`."""
    return compare(
        old,
        new,
        exactness=probe.exactness,
        bound=probe.bound,
        step=_step(probe.before, old.shape) * _at_ties(probe, inputs) if probe.bound is not None and probe.bound.steps else 1.0,
        counted=_counted(probe.before, inputs, old.shape),
    )


def _counted(fragment: Fragment, inputs: Inputs, shape: tuple[int, ...]) -> Array | None:
    """False where the spec leaves the result open: a scale of 0, a quotient that is NaN in a type without NaN."""
    for name, grid in grids(fragment).items():
        values = inputs.get(name)
        if values is None or values.shape != shape or values.dtype == np.dtype(object):
            continue
        try:
            scale = spread(grid.scale, shape, grid.axis, grid.block).astype(np.float64)
        except QdqtoolError:
            continue
        with np.errstate(all="ignore"):
            quotient = values.astype(np.float64) / scale
        defined: Array = (np.broadcast_to(scale, shape) != 0) & ~(np.isnan(quotient) & ~np.isnan(values.astype(np.float64)))
        return defined
    return None


def _at_ties(probe: Probe, inputs: Inputs) -> float | Array:
    """1 where a step may be taken: everywhere, or at ties where that is promised and what is quantized is known."""
    if probe.bound is None or not probe.bound.ties:
        return 1.0
    pairs = zip(probe.before.inputs, probe.after.inputs, strict=True)
    renamed = {new.name: inputs[old.name] for old, new in pairs if old.name in inputs}
    sides = ((probe.before, inputs), (probe.after, renamed))
    found = (fake_quantize.ties(node, side, given) for side, given in sides for node in side.nodes)
    return next((ties.astype(np.float64) for ties in found if ties is not None), 1.0)


def _step(fragment: Fragment, shape: tuple[int, ...]) -> float | Array:
    """The value of one step of the output: 1 for codes, the scale of the last dequantize for real values, or that of its levels."""
    if fragment.outputs[0].dtype.integer:
        return 1.0
    for node in reversed(fragment.nodes):
        levels = fake_quantize.step(node, fragment)
        if levels is not None:
            return levels
        grid = grid_of(node, fragment) if node.op_type == "DequantizeLinear" else None
        if grid is None:
            continue
        try:
            return np.asarray(spread(grid.scale, shape, grid.axis, grid.block).astype(np.float64))
        except QdqtoolError:
            return float(np.abs(grid.scale.astype(np.float64)).max())
    return 1.0
