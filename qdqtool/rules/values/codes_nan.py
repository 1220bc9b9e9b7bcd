"""Float codes of a weight are NaN or infinite.

**Why it matters**: float8 has codes that are no numbers: 0x7f and 0xff in E4M3FN, 0x80 in the FNUZ types. A cast that does not saturate
(``saturate=0``) makes them of what is too large. One of them makes every result that reads it NaN.

**Bad**: float8e4m3fn codes with 0x7f among them

**Good**: float8e4m3fn codes with 0x7e (448), the largest number

**Fix**: quantize again with saturation, or with a larger scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ214"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for weight in subject.weights:
        if weight.const.dtype.kind == "float":
            codes = weight.codes
            if codes.nan:
                message = f"{codes.nan} of {codes.count} codes of {weight} are NaN"
                yield subject.problem(weight.place, message, "quantize again with saturation", about=weight.name)
            elif isinf(codes.low) or isinf(codes.high):
                message = f"codes of {weight} hold an infinity"
                yield subject.problem(weight.place, message, "quantize again with saturation", about=weight.name)
