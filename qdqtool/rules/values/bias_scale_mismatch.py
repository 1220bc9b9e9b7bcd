"""The scale of an int32 bias is not the product of the scales of input and weight.

**Why it matters**: integer kernels add the codes of the bias to sums whose unit is ``x_scale * w_scale``, without looking at the bias's
own scale. ONNX Runtime 1.32 adds them so in every Gemm: with a scale twice as large as it should be, half of the bias is lost, and only
without optimizations is the result what the model says. For a Conv it compares the scales: up to 4 % apart it adds the codes as they are,
one step off; from 5 % on it computes the Conv in float. Others (LiteRT, many NPUs) do not compare.

**Bad**: ``x_scale = 0.02``, ``w_scale = 0.005``, ``bias_scale = 0.0002``

**Good**: ``bias_scale = 0.0001``, and codes twice as large

**Fix**: ``--fix --unsafe`` writes the codes anew for the scale that is meant (each value moves by half a unit at most).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from qdqtool import dtypes
from qdqtool.expressions import Expr, is_const
from qdqtool.findings import Fix, Problem
from qdqtool.kernels.sources import Array
from qdqtool.linting import rewrites
from qdqtool.linting.layers import Layer, axes
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.quantization import PerAxis, PerTensor

CODE = "QDQ211"
SEVERITY = "warning"
STAGE = "graph"

EQUAL = 1e-6
"""What rounding to float32 may do to a product."""


@dataclass(frozen=True, slots=True)
class Bias:
    """Codes of a bias, its scales and those it should have."""

    place: Place
    codes: Array
    scales: Array
    wanted: Array

    @property
    def wrong(self) -> Array:
        """Where the codes as they are mean a value that is off by half a unit or more."""
        error = np.abs(self.codes * (self.scales / self.wanted - 1))
        found: Array = (error >= 0.5) & (np.abs(self.scales / self.wanted - 1) > EQUAL)
        return found


def check(subject: Subject) -> Iterator[Problem]:
    seen = set()
    for layer in subject.layers:
        bias = _bias(subject, layer)
        if bias is not None and bias.place not in seen and bias.wrong.any():
            seen.add(bias.place)
            yield _problem(subject, layer, bias)


def _problem(subject: Subject, layer: Layer, bias: Bias) -> Problem:
    wrong, factor = bias.wrong, bias.scales / bias.wanted
    first = int(np.argmax(np.abs(factor - 1) * wrong))
    units = np.abs(bias.codes * (factor - 1))
    name = operand_name(subject, bias.place, 1)
    channels = f"{int(wrong.sum())} of {wrong.size} channels"
    example = f"[{first}]: {bias.scales[first]:.4g}, not {bias.wanted[first]:.4g}"
    error = f"codes are off by up to {units.max():.4g} ({(units * bias.wanted).max():.4g})"
    message = f"bias scale '{name}' is not x_scale * w_scale in {channels} ({example}): {error}"
    return subject.problem(bias.place, message, "write the codes anew for x_scale * w_scale", about=name, fix=_fix(subject, bias))


def _bias(subject: Subject, layer: Layer) -> Bias | None:
    """A bias that a kernel would add in integers; None where a scale is not known, or no channel is used."""
    operand = layer.bias
    if operand is None or operand.step is None or not operand.direct or layer.data.step is None or layer.weight.step is None:
        return None
    if any((a := subject.attribute(layer.place, name)) is not None and a.f != 1 for name in ("alpha", "beta")):
        return None
    bias, data, weight = (subject.steps[p].step for p in (operand.step, layer.data.step, layer.weight.step))
    if bias.meaning.storage is not dtypes.INT32 or not isinstance(data.meaning.granularity, PerTensor) or not is_const(bias.x):
        return None
    if isinstance(weight.meaning.granularity, PerAxis):
        if not layer.weight.direct or weight.meaning.granularity.axis != axes(subject, layer, len(weight.x.shape or ()))[0]:
            return None
    elif not isinstance(weight.meaning.granularity, PerTensor):
        return None
    data_scale, weight_scale, scales = (_numbers(subject, e) for e in (data.scale, weight.scale, bias.scale))
    if data_scale is None or weight_scale is None or scales is None:
        return None
    return _compared(subject, operand.step, scales, np.asarray(data_scale * weight_scale))


def _compared(subject: Subject, place: Place, scales: Array, wanted: Array) -> Bias | None:
    """None where they agree, which is nearly everywhere, before any code is read."""
    if scales.size not in (1, wanted.size) and wanted.size != 1:
        return None
    if not wanted.all() or not np.isfinite(wanted).all() or bool((np.abs(scales / wanted - 1) <= EQUAL).all()):
        return None
    codes = _numbers(subject, subject.steps[place].step.x)
    if codes is None or {scales.size, wanted.size} - {1, codes.size}:
        return None
    return Bias(place, codes, np.broadcast_to(scales, codes.shape), np.broadcast_to(wanted, codes.shape))


def _numbers(subject: Subject, expr: Expr) -> Array | None:
    return subject.facts.ask("numbers", expr) if is_const(expr) else None


def _fix(subject: Subject, bias: Bias) -> Fix | None:
    step, row = subject.steps[bias.place].step, subject.steps[bias.place].source
    zero = np.zeros(1) if step.zero_point is None else _numbers(subject, step.zero_point)
    alone = len(subject.readers(bias.place)) == 1 and row.vector and row.axis and step.x.shape == bias.codes.shape
    if zero is None or not alone:
        return None
    codes = np.rint((bias.codes - zero) * bias.scales / bias.wanted)
    return rewrites.codes_and_scale(subject, bias.place, codes.astype(np.int32), bias.wanted) if np.abs(codes).max() < 2**31 else None
