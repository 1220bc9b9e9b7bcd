"""A step on a vector has several scales and no ``axis``: the default is 1, which a vector does not have.

**Why it matters**: exporters forget it for biases; ``onnx.checker`` passes it, ONNX Runtime fails when the node runs.

**Bad**: ``DequantizeLinear(bias, scales)`` with bias [64] and scales [64]

**Good**: ``DequantizeLinear<axis = 0>(bias, scales)``

**Fix**: ``--fix`` writes the only axis there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.mends import only_axis
from qdqtool.linting.subject import Subject

CODE = "QDQ131"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "write the axis", "x", "scale", about="axis", fix=partial(only_axis, subject))


def _fault(form: Form) -> str:
    unwritten = form.misfit is not None and form.misfit.kind == "axis" and "axis" not in form.given
    return f"axis is 1 by default: {form.misfit.text}" if form.misfit and unwritten else ""
