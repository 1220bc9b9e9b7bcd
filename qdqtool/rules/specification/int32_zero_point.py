"""A dequantize of int32 has a zero point.

**Why it matters**: the specification has none for int32 ("There's no zero point in the case of dequantizing int32"). ONNX Runtime
subtracts it in int32, where it can wrap; TensorRT, OpenVINO and others refuse the node or drop the value. A constant 0, which
several quantizers write for biases, is harmless and only an info, once for a model.

**Bad**: int32 bias with zero point 3

**Good**: int32 bias without zero point

**Fix**: take the zero point away when it is 0; else subtract it from the codes.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import INT32
from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.linting.words import counted
from qdqtool.model.graph import Place

CODE = "QDQ125"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    harmless: list[Place] = []
    for place, lifted in subject.steps.items():
        zero = lifted.step.zero_point
        if zero is None or lifted.source.kind != "dequantize" or {lifted.step.x.dtype, zero.dtype} != {INT32}:
            continue
        if is_const(zero) and not subject.facts.ask("nonzero", zero):
            harmless.append(place)
            continue
        name = operand_name(subject, place, 2)
        message = f"int32 codes have a zero point '{name}', which the specification does not know"
        yield subject.problem(place, message, "subtract it from the codes, and leave it out", about=name)
    if harmless:
        nodes = counted(len(harmless), "dequantize of int32 codes has", "dequantizes of int32 codes have")
        message = f"{nodes} a zero point of 0, first '{operand_name(subject, harmless[0], 2)}'"
        yield subject.problem(harmless[0], message, "it may be left out", about="0", severity="info")
