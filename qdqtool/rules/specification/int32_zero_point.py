"""A dequantize of int32 has a zero point.

**Why it matters**: the specification has none for int32 ("There's no zero point in the case of dequantizing int32"). ONNX Runtime
subtracts it in int32, where it can wrap; TensorRT, OpenVINO and others refuse the node or drop the value. A constant 0, which
several quantizers write for biases, is harmless and only an info.

**Bad**: int32 bias with zero point 3

**Good**: int32 bias without zero point

**Fix**: take the zero point away when it is 0; else subtract it from the codes.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import INT32
from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ125"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        zero = lifted.step.zero_point
        if zero is None or lifted.source.kind != "dequantize" or lifted.step.x.dtype is not INT32:
            continue
        name = subject.node(place).input[lifted.source.order[2]]
        harmless = is_const(zero) and not subject.facts.ask("nonzero", zero)
        message = f"int32 codes have a zero point '{name}'" + (" of 0" if harmless else ", which the specification does not know")
        hint = "it may be left out" if harmless else "subtract it from the codes, and leave it out"
        yield subject.problem(place, message, hint, about=name, severity="info" if harmless else None)
