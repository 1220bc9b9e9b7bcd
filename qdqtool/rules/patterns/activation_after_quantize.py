"""Relu or Clip follows the quantize of a layer's output, where it could come before.

**Why it matters**: after ``Conv -> QuantizeLinear -> DequantizeLinear``, ONNX Runtime 1.32 runs the Relu in float between a dequantize and
a quantize of its own (seen in its optimized models); before the quantize it costs nothing, since codes begin at 0. The first pair also
spends codes on the negative numbers that Relu drops. A Relu whose input has no negative codes is taken away, and not reported.

**Bad**: ``Conv -> Q -> DQ -> Relu -> Q``

**Good**: ``Conv -> Relu -> Q``, with a range from 0 on

**Fix**: take away the first pair, and keep the scale of the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.pairs import behind, is_step
from qdqtool.linting.ranges import given, of_step
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ307"
SEVERITY = "warning"
STAGE = "graph"

LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "Add")


def check(subject: Subject) -> Iterator[Problem]:
    for place in subject.nodes("Relu", "Clip"):
        layer = _layer(subject, place)
        if layer is not None and any(u.place in subject.steps for u in subject.readers(place)):
            ops = subject.node(place).op_type, subject.node(layer).op_type
            yield subject.problem(place, f"{ops[0]} follows the quantize of the output of {ops[1]}", f"put {ops[0]} before the quantize")


def _layer(subject: Subject, place: Place) -> Place | None:
    """The layer whose quantized output an activation function reads, unless there is nothing to do for it."""
    read = subject.producer(place, 0)
    if read is None or not is_step(subject, read, "dequantize"):
        return None
    quantize, _ = behind(subject, read)
    if quantize is None or not is_step(subject, quantize, "quantize"):
        return None
    layer, _ = behind(subject, quantize)
    if layer is None or subject.node(layer).op_type not in LAYERS:
        return None
    codes, passed = of_step(subject, read), given(subject, place)
    idle = codes is not None and passed is not None and passed[0] <= codes[0] and codes[1] <= passed[1]
    return None if idle else layer
