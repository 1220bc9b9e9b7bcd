"""A scale is subnormal: so small that its type holds it with fewer bits, in the extreme as 0.

**Why it matters**: with denormals flushed to zero, as many processors and ``session.set_denormal_as_zero`` do, it is a zero scale. In
float16, where subnormal numbers begin at 6.1e-5, a scale below 7.6e-6 (2**-17) is off by more than 0.4 %, half a step at code 127; larger
ones are let pass.

**Bad**: ``scale = 1e-40``

**Good**: ``scale = 1.0`` for a tensor that is 0, a float32 scale for one that is small

**Fix**: calibrate again if the tensor was never reached; store small scales in float32.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ204"
SEVERITY = "warning"
STAGE = "graph"

ROUGH = 2.0**-17
"""Below this a float16 is off by more than half a step at code 127."""


def check(subject: Subject) -> Iterator[Problem]:
    for scale in subject.scales:
        found, dtype = scale.held.subnormal, scale.const.dtype
        if found and (dtype is not dtypes.FLOAT16 or scale.held.least < ROUGH):
            message = f"{scale.told(found, f'subnormal in {dtype}')} (least magnitude {scale.held.least:.3g}){scale.shared()}"
            yield subject.problem(scale.places[0], message, "calibrate again, or use a float32 scale", about=scale.name)
