"""The scales of a weight lie along another axis than the output channels, and the runtime refuses that or computes it wrongly.

**Why it matters**: with scales along the axis that is summed over, the sum cannot be scaled afterwards. QNN takes such a MatMul and is
wrong by half the range.

**Bad**: ``MatMul(x, DequantizeLinear<axis = 0>(w[K, N], scale[K]))``

**Good**: ``MatMul(x, DequantizeLinear<axis = 1>(w[K, N], scale[N]))``

**Fix**: quantize again with one scale for each output channel.

**Runtimes**: QNN as measured, LiteRT as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.layers import Layer, axes
from qdqtool.linting.runtimes import dims, operand, said, told
from qdqtool.linting.subject import Subject
from qdqtool.plan.lift import Lifted
from qdqtool.quantization import PerAxis

CODE = "QDQ418"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ314",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for layer in (one for one in subject.layers if one.op in caution.ops and one.weight.direct):
            assert layer.weight.step is not None
            lifted = subject.steps[layer.weight.step]
            what = _wrong(subject, layer, lifted, summed="summed" in caution.numbers)
            if what:
                yield said(subject, caution, lifted.place, what, operand(subject, lifted, 1), "one scale for each output channel")


def _wrong(subject: Subject, layer: Layer, lifted: Lifted, *, summed: bool) -> str:
    where, shape = lifted.step.meaning.granularity, lifted.step.x.shape
    if not isinstance(where, PerAxis) or shape is None or len(shape) < 2:
        return ""
    output, contracted = axes(subject, layer, len(shape))
    if where.axis == output or (summed and where.axis != contracted):
        return ""
    name = operand(subject, lifted, 0)
    what = "which is summed over" if where.axis == contracted else f"not {output}"
    return f"scales of weight '{name}' {dims(shape)} along axis {where.axis}, {what}"
