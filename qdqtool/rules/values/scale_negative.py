"""A scale is negative.

**Why it matters**: the arithmetic is well defined, and symmetric int4 weights of several tools (ONNX Runtime's quantizer and model
builder, nncf) have as many negative scales as positive ones, so that the code -8 is used for the largest weight of either sign. But
TensorRT wants positive scales, WebNN backends refuse others, and older versions of ONNX Runtime moved MaxPool and Relu to the codes,
whose order a negative scale turns round (1.32 does not).

**Bad**: ``scale = -0.02`` for the input of a MaxPool

**Good**: ``scale = 0.02``

**Fix**: nothing, unless the model must run where negative scales are refused; then turn codes and scale round, or quantize with
positive scales.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ202"
SEVERITY = "info"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for scale in subject.scales:
        if scale.held.negative:
            message = f"{scale.told(scale.held.negative, 'negative')} ({scale.held.negative.value:.4g}){scale.shared()}"
            yield subject.problem(scale.places[0], message, "fine in ONNX Runtime; TensorRT wants positive scales", about=scale.name)
