"""A graph input has no type, or a value is declared with an element type that ONNX does not know.

**Why it matters**: ONNX Runtime refuses the model. An output without a type is a warning: ONNX Runtime infers it,
``onnx.checker`` refuses it.

**Bad**: a graph input with a name only

**Good**: with an element type, and a shape as far as it is known

**Fix**: declare the type.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.findings import Problem, Severity
from qdqtool.linting.subject import Subject

CODE = "QDQ128"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    graph = subject.proto.graph
    for values, what in ((graph.input, "input"), (graph.output, "output"), (graph.value_info, "value")):
        for value in values:
            kind = value.type.WhichOneof("value")
            code = value.type.tensor_type.elem_type if kind == "tensor_type" else 1
            if code and dtypes.of_code(code) is None:
                yield Problem("main", f"{what} '{value.name}' has the unknown element type {code}", "declare the type", about=value.name)
            elif what != "value" and (kind is None or not code):
                severity: Severity | None = "warning" if what == "output" else None
                yield Problem("main", f"{what} '{value.name}' has no type", "declare the type", about=value.name, severity=severity)
