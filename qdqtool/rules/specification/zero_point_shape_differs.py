"""The zero point has another shape than the scale.

**Why it matters**: they go in pairs. ``onnx.checker`` passes it, ONNX Runtime fails when the node runs, others broadcast.

**Bad**: scale [64] with a scalar zero point

**Good**: scale [64] with a zero point [64]

**Fix**: ``--fix`` repeats a single zero point.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.mends import shaped_like_scale
from qdqtool.linting.subject import Subject

CODE = "QDQ134"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(
        subject, _fault, "give the zero point the shape of the scale", "scale", "zero point", fix=partial(shaped_like_scale, subject)
    )


def _fault(form: Form) -> str:
    scale, zero = form.scale.shape, form.zero_point.shape if form.zero_point else None
    if form.misfit or scale is None or zero is None or (scale in ((), (1,)) and zero in ((), (1,))):
        return ""
    differ = len(scale) != len(zero) or any(None not in (a, b) and a != b for a, b in zip(scale, zero, strict=True))
    return "scale and zero point have different shapes" if differ else ""
