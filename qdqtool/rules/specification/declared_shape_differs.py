"""The model declares another shape for the result of a quantize or dequantize than its input has.

**Why it matters**: the step changes no shape, so one of the two is wrong; runtimes that plan memory or fuse by declared shapes
(TensorRT, OpenVINO, QNN) believe it. ONNX Runtime prints a warning and computes.

**Bad**: input [4, 6], result declared as [4, 7]

**Good**: result declared as [4, 6], or not at all

**Fix**: take the declaration away and let the runtime infer it.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.granularities import Shape
from qdqtool.linting.forms import shown
from qdqtool.linting.subject import Subject

CODE = "QDQ122"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        told, shape = subject.declared(place).shape, lifted.step.x.shape
        if told is not None and shape is not None and _differ(told, shape):
            name = subject.node(place).output[0]
            message = f"result '{name}' is declared as {shown(told)}, the input is {shown(shape)}"
            yield subject.problem(place, message, "take the declaration away", about=name)


def _differ(told: Shape, shape: Shape) -> bool:
    return len(told) != len(shape) or any(None not in (a, b) and a != b for a, b in zip(told, shape, strict=True))
