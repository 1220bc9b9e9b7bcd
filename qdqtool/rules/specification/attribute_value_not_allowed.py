"""An attribute has a value that its operator does not know at the imported opset.

**Why it matters**: later opsets gave more values a meaning. ONNX Runtime takes them at any opset; other runtimes refuse them or do
something else. A value that no opset knows is an error.

**Bad**: ``Pad`` with ``mode = "wrap"`` at opset 18

**Good**: ``mode = "wrap"`` at opset 19

**Fix**: import the opset that knows the value.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ108"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in reasons(subject, "value"):
        yield subject.problem(place, reason.text, "import the opset that knows the value", about=reason.subject)
    for place, reason in reasons(subject, "value of no opset"):
        yield subject.problem(place, reason.text, "write a value that the operator knows", about=reason.subject, severity="error")
