"""An operator other than Q and DQ works on a type that it does not take at the imported opset.

**Why it matters**: quantized tensors reach operators that have no such type (``Add`` of int4, ``Relu`` of uint8); ONNX Runtime
refuses them.

**Bad**: ``Relu(codes)`` with uint8 codes

**Good**: ``Relu(DequantizeLinear(codes, scale))``

**Fix**: dequantize first, or import an opset whose operator takes the type.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ111"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in reasons(subject, "type"):
        yield subject.problem(place, reason.text, "dequantize or cast first", about=reason.subject)
