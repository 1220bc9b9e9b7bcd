"""A scale has more than one dimension, and there is no ``block_size``.

**Why it matters**: only blocks give such a scale a meaning; it is often shaped for broadcasting ([64, 1, 1, 1]), which ONNX does
not do here. ``onnx.checker`` passes it, ONNX Runtime fails when the node runs.

**Bad**: scale [64, 1, 1, 1] for weights [64, 3, 7, 7]

**Good**: scale [64] and ``axis = 0``

**Fix**: flatten the scale and name its axis; or write ``block_size``.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ132"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "flatten the scale and name its axis, or write block_size", "x", "scale")


def _fault(form: Form) -> str:
    return form.misfit.text if form.misfit and form.misfit.kind == "rank" else ""
