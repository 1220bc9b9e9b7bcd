"""A step has a float8e8m0 scale, and nothing says in which type it computes.

**Why it matters**: the result of a dequantize has the type of its scale unless ``output_dtype`` says another, and no step gives
float8e8m0. A quantize divides in the type of its scale unless ``precision`` says another, and float8e8m0 holds powers of two
only: the specification leaves the result open.

**Bad**: ``DequantizeLinear<block_size = 32>(x, e8m0_scale)``

**Good**: ``DequantizeLinear<block_size = 32, output_dtype = 1>(x, e8m0_scale)``; ``QuantizeLinear<precision = 1>``

**Fix**: write ``output_dtype`` (dequantize) or ``precision`` (quantize).
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import FLOAT8E8M0
from qdqtool.findings import Problem, Severity
from qdqtool.linting.subject import Subject

CODE = "QDQ126"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for form, places in subject.forms.items():
        if form.scale.dtype is not FLOAT8E8M0 or FLOAT8E8M0 not in form.row.scale:
            continue
        name = "precision" if form.row.kind == "quantize" else "output_dtype"
        if not form.given.get(name):
            severity: Severity = "warning" if form.row.kind == "quantize" else "error"
            for place in places:
                message = f"the scale is float8e8m0 and no {name} says in which type to compute"
                yield subject.problem(place, message, f"write {name}=1 for float32", about=name, severity=severity)
