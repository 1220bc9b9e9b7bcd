"""A dequantize that feeds a Gemm has no zero point.

**Why it matters**: left out it is 0, but ONNX Runtime 1.32 makes a QGemm only where the dequantize of input and weight both name one, and
computes the Gemm in float otherwise (seen in its optimized models). Conv, MatMul and the elementwise operators do not mind.

**Bad**: ``Gemm(x, DequantizeLinear(int8 w, scale))``

**Good**: ``Gemm(x, DequantizeLinear(int8 w, scale, 0))``

**Fix**: ``--fix`` writes a zero point of zeros.

**Runtimes**: ONNX Runtime; for others nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.expressions import known
from qdqtool.findings import Problem
from qdqtool.linting import mends
from qdqtool.linting.fusion import applies
from qdqtool.linting.layers import is_weight
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ320"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    seen: set[Place] = set()
    for layer in subject.layers if applies(subject) else ():
        steps = (layer.data.step, layer.weight.step)
        if layer.op != "Gemm" or None in steps or not is_weight(subject, layer.weight):
            continue
        for place in steps:
            if place is not None and place not in seen and _lacks(subject, place):
                seen.add(place)
                yield _problem(subject, place)


def _lacks(subject: Subject, place: Place) -> bool:
    step = subject.steps[place].step
    return step.zero_point is None and step.meaning.storage in (dtypes.INT8, dtypes.UINT8)


def _problem(subject: Subject, place: Place) -> Problem:
    step = subject.steps[place].step
    shape, storage = known(step.scale.shape), step.meaning.storage
    fix = None if shape is None or storage is None else mends.zeros(subject, place, storage, shape)
    message = f"the dequantize of '{operand_name(subject, place, 0)}' has no zero point, which a Gemm in integers needs"
    return subject.problem(place, message, "write a zero point of 0", fix=fix)
