"""There is a ``block_size``, and the scale has not as many dimensions as the input.

**Why it matters**: blocks along one axis need a scale for each index of all others. ``onnx.checker`` passes it, ONNX Runtime
fails when the node runs.

**Bad**: ``block_size = 32`` with a scalar scale

**Good**: ``block_size = 32`` along axis 1 of [8, 64] with a scale [8, 2]

**Fix**: shape the scale, or leave out ``block_size`` when a scale is for the whole tensor or one index.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ137"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "give the scale the rank of the input, or leave out block_size", "x", "scale")


def _fault(form: Form) -> str:
    return form.misfit.text if form.misfit and form.misfit.kind == "block rank" else ""
