"""An arithmetic operator reads codes as if they were the numbers they stand for.

**Why it matters**: the sum of two codes is no code of the sum: scales and zero points are ignored, and 8-bit sums wrap around. It is
legal from opset 14 on, where Add, Sub, Mul and Div know 8-bit integers, so nothing complains. A dequantize was left out.

**Bad**: ``Add(QuantizeLinear(x, ...), QuantizeLinear(y, ...))``

**Good**: ``Add(DequantizeLinear(...), DequantizeLinear(...))``

**Fix**: a dequantize before the operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.pairs import is_step
from qdqtool.linting.subject import Subject

CODE = "QDQ304"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place in subject.nodes("Add", "Sub", "Mul", "Div", "Pow", "Mod", "Neg", "Abs"):
        node = subject.node(place)
        read = [name for slot, name in enumerate(node.input) if is_step(subject, subject.producer(place, slot), "quantize")]
        if read:
            message = f"{node.op_type} computes with the codes '{read[0]}' as numbers; their scale and zero point are ignored"
            yield subject.problem(place, message, "put a dequantize before it", about=read[0])
