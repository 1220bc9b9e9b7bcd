"""The model's opset is outside what the runtime loads.

**Why it matters**: a runtime that does not know an opset refuses the whole model, whatever its nodes are. Below the lowest opset that
a runtime promises it may load and then lack old kernels.

**Bad**: opset 25 for a runtime that loads up to 21

**Good**: opset 21

**Fix**: ``qdqtool convert --opset N`` with an opset in the span that the message names.

**Runtimes**: ONNX Runtime and OpenVINO as measured, TensorRT, QNN, MIGraphX and onnx-mlir as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem, Severity
from qdqtool.linting.subject import Subject

CODE = "QDQ401"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    if subject.profile is None:
        return
    low, high = subject.profile.opsets
    if low <= subject.opset <= high:
        return
    span = f"opset {low}" if low == high else f"opsets {low} to {high}"
    nearest = min(max(subject.opset, low), high)
    message = f"{subject.profile}: the model uses opset {subject.opset}; it loads {span}"
    severity: Severity | None = None if subject.opset > high or low == high else "warning"
    yield subject.problem(None, message, f"qdqtool convert --opset {nearest}", about="opset", severity=severity)
