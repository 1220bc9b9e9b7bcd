"""A scale is negative.

**Why it matters**: the arithmetic is well defined, and symmetric int4 weights of several tools (ONNX Runtime's quantizer and model
builder, nncf) have as many negative scales as positive ones, so that the code -8 is used for the largest weight of either sign. But
TensorRT wants positive scales, WebNN backends refuse others, and older versions of ONNX Runtime moved MaxPool and Relu to the codes,
whose order a negative scale turns round (1.32 does not). Reported once for a model.

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
    found = [scale for scale in subject.scales if scale.held.negative]
    if found:
        first, spot = found[0], found[0].held.negative
        more = f"; as in {len(found) - 1} more constants" if len(found) > 1 else ""
        message = f"{first.told(spot, 'negative')} ({spot.value:.4g}){first.shared()}{more}"
        yield subject.problem(first.places[0], message, "fine in ONNX Runtime; TensorRT wants positive scales", about="negative")
