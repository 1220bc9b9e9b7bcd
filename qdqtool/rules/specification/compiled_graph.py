"""The model holds an ``EPContext`` node: a graph compiled for one device.

**Why it matters**: it runs with that device's execution provider only, and what is inside cannot be judged or converted.

**Bad**: the ``_ctx.onnx`` file that a session with ``ep.context_enable`` wrote

**Good**: the model that it was compiled from

**Fix**: ship it for that device only; lint and convert the original.

**Runtimes**: an error for ONNX Runtime with the CPU provider, a warning for others, whose graph it may be.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem, Severity
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import label

CODE = "QDQ166"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for node in subject.proto.graph.node:
        if node.op_type == "EPContext" and node.domain == "com.microsoft":
            source = next((a.s.decode("utf-8", "replace") for a in node.attribute if a.name == "source"), "")
            message = f"the node holds a graph compiled for one device{f' ({source})' if source else ''}"
            hint = "lint the model that it was compiled from"
            yield Problem(f"main / {label(node)}", message, hint, about="EPContext", severity=_severity(subject))


def _severity(subject: Subject) -> Severity | None:
    return None if subject.profile is None or subject.profile.name == "ort" else "warning"
