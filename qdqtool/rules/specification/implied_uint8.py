"""A quantize has neither zero point nor ``output_dtype``, so that its result is uint8 by default.

**Why it matters**: the default is easy to miss: readers of the model, and importers that guess the type from the dequantize
behind it, may take int8.

**Bad**: ``QuantizeLinear(x, scale)``

**Good**: ``QuantizeLinear(x, scale, zero_point)`` with a uint8 zero point 0

**Fix**: ``--fix`` adds the zero point that is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.expressions import known
from qdqtool.findings import Problem
from qdqtool.linting.mends import zeros
from qdqtool.linting.subject import Subject

CODE = "QDQ123"
SEVERITY = "info"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for form, places in subject.forms.items():
        if form.row.kind == "quantize" and form.zero_point is None and not form.given.get("output_dtype"):
            shape = known(form.scale.shape)
            for place in places:
                fix = None if shape is None else zeros(subject, place, dtypes.UINT8, shape)
                yield subject.problem(
                    place, "without zero point and output_dtype the result is uint8", "add a zero point of that type", fix=fix
                )
