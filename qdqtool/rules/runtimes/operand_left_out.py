"""A zero point is skipped in the middle of the operands, which the runtime cannot infer types past.

**Why it matters**: the schema calls it optional, and the model does not load.

**Bad**: ``QLinearAdd(a, a_scale, , b, b_scale, b_zero, c_scale, c_zero)``

**Good**: ``QLinearAdd(a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero)``

**Fix**: write a zero point of 0.

**Runtimes**: ONNX Runtime as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject

CODE = "QDQ434"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place in subject.nodes(*sorted(caution.ops), domain=caution.domain):
            node = subject.node(place)
            absent = [slot for slot, name in enumerate(node.input) if not name and any(node.input[slot:])]
            if absent:
                yield said(subject, caution, place, f"{node.op_type} without input {absent[0]}", str(absent[0]))
