"""The imported opset has no such operator: it came later, or it is deprecated there.

``SimplifiedLayerNormalization``, which ONNX Runtime has in the main domain beyond the specification, is a warning.

**Why it matters**: no runtime loads the model, however well it knows the operator.

**Bad**: ``QuantizeLinear`` with ``opset_import: 9``

**Good**: ``QuantizeLinear`` with ``opset_import: 10``

**Fix**: import the opset that the exporter wrote the operators for.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.causes import by_cause
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ101"
SEVERITY = "error"
STAGE = "graph"

OWN = frozenset({"SimplifiedLayerNormalization"})
"""Operators that ONNX Runtime 1.32 runs in the main domain, and the specification has not."""


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason, more in by_cause(reasons(subject, "operator")):
        if reason.subject in OWN:
            hint = "other runtimes do not load the model; put the operator into its domain com.microsoft where it has one"
            yield subject.problem(place, f"{reason.text}, though ONNX Runtime has{more}", hint, about=reason.subject, severity="warning")
        else:
            yield subject.problem(place, reason.text + more, "import the opset that the operators were written for", about=reason.subject)
