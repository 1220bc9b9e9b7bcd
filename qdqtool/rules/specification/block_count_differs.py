"""The scale has more or fewer entries along the blocked axis than there are blocks.

**Why it matters**: ``onnx.checker`` passes it, ONNX Runtime fails when the node runs; others read scales that do not belong to
the block.

**Bad**: 3 scales along an axis of 64 with ``block_size = 32``

**Good**: 2 scales

**Fix**: correct ``block_size`` or the scale. ``--fix`` names the right axis where blocks fit along exactly one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.mends import other_axis
from qdqtool.linting.subject import Subject

CODE = "QDQ138"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, _hint, "x", "scale", fix=partial(other_axis, subject))


def _fault(form: Form) -> str:
    return form.misfit.text if form.misfit and form.misfit.kind == "blocks" else ""


def _hint(form: Form) -> str:
    return "correct block_size, or make scales for every block" if form.only_axis is None else f"blocks fit along axis {form.only_axis}"
