"""A weight has its scales along another axis than the output channels.

**Why it matters**: an integer kernel multiplies by the scale after summing up, which works only if all summands have the same scale. ONNX
Runtime 1.32 computes such a layer in float (seen in its optimized models); the QNN HTP takes a MatMul with scales along the summed axis
and returns wrong numbers. It often is a mistake: ConvTranspose has its output channels on axis 1, Gemm with ``transB`` on axis 0.

**Bad**: scales along axis 0 of a MatMul's weight [K, N]

**Good**: scales along axis 1

**Fix**: quantize along the output channels, or in blocks along the summed axis for weight-only quantization.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.layers import Layer, axes
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.quantization import PerAxis

CODE = "QDQ314"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for layer in subject.layers:
        step = subject.steps[layer.weight.step].step if layer.weight.step is not None and layer.weight.direct else None
        where = step.meaning.granularity if step is not None else None
        if step is None or not isinstance(where, PerAxis) or step.x.shape is None or len(step.x.shape) < 2 or _grouped(subject, layer):
            continue
        output, summed = axes(subject, layer, len(step.x.shape))
        if where.axis != output and step.x.shape[where.axis] != 1 and layer.weight.step is not None:
            kind = "which is summed over" if where.axis == summed else "which is neither summed over nor the output channels"
            name = operand_name(subject, layer.weight.step, 0)
            message = f"weight '{name}' {list(step.x.shape)} of {layer.op} has its scales along axis {where.axis}, {kind}"
            yield subject.problem(layer.weight.step, message, f"output channels are axis {output}", about=name)


def _grouped(subject: Subject, layer: Layer) -> bool:
    """A grouped ConvTranspose has its output channels on two axes."""
    group = subject.attribute(layer.place, "group")
    return layer.op == "ConvTranspose" and group is not None and group.i > 1
