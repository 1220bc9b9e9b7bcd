"""Codes are dequantized, moved about, and quantized again.

**Why it matters**: Reshape, Transpose, Slice and the like do the same to codes as to numbers. With equal parameters ONNX Runtime 1.32 lets
them work on the codes (seen in its optimized models); quantizers write such pairs on purpose, so they are an info, once for a model.
With other parameters on the far side it cannot: the operator runs in float, and every value is rounded once more for nothing.

**Bad**: ``DequantizeLinear(q, 0.01) -> Reshape -> QuantizeLinear(0.03)``

**Good**: ``Reshape(q)``

**Fix**: the same scale and zero point on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.pairs import MOVING, behind, equal, is_step, parameters
from qdqtool.linting.subject import Subject
from qdqtool.linting.words import counted
from qdqtool.model.graph import Place
from qdqtool.quantization import PerTensor

CODE = "QDQ315"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    same: list[Place] = []
    for place, lifted in subject.steps.items():
        maker, between = behind(subject, place, MOVING) if lifted.step.meaning.kind == "quantize" else (None, ())
        if maker is None or not between or not is_step(subject, maker, "dequantize") or not _per_tensor(subject, maker, place):
            continue
        alike = None if is_const(subject.steps[maker].step.x) else equal(subject, maker, place)
        if alike:
            same.append(between[0])
        elif alike is False:
            ops = " and ".join(reversed([subject.node(p).op_type for p in between]))
            message = f"{ops} moves values between {parameters(subject, maker)} and {parameters(subject, place)}"
            yield subject.problem(between[0], message, "the same parameters on both sides")
    if same:
        operators = counted(len(same), "operator that only moves values stands", "operators that only move values stand")
        message = f"{operators} between dequantize and quantize of the same parameters"
        yield subject.problem(same[0], message, "nothing to do for ONNX Runtime, which moves the codes itself", severity="info")


def _per_tensor(subject: Subject, *places: Place) -> bool:
    return all(isinstance(subject.steps[p].step.meaning.granularity, PerTensor) for p in places)
