"""A scale is 0 or negative, and the runtime refuses it or leaves the result open.

**Why it matters**: negative scales are normal in symmetric 4-bit weights of several tools, and 0 in channels that were pruned.

**Bad**: ``scale = [0.02, -0.013]`` in TensorRT

**Good**: ``scale = [0.02, 0.013]``, with the codes of that channel negated where they fit

**Fix**: negate scale and codes together; give dead channels any positive scale and codes of 0.

**Runtimes**: TensorRT, Core ML (all 0) and DirectML (0), by their sources. ONNX Runtime computes with any scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from qdqtool.expressions import Const, is_const
from qdqtool.findings import Problem
from qdqtool.kernels.sources import tiles
from qdqtool.linting.runtimes import dims, number, operand, said, steps, told
from qdqtool.linting.subject import Subject
from qdqtool.targets.cautions import Caution

CODE = "QDQ415"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ202",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        known: dict[Const, str] = {}
        for place, lifted in steps(subject, caution):
            scale = lifted.step.scale
            if not is_const(scale) or not prod(scale.shape):
                continue
            if scale not in known:
                known[scale] = _bad(subject, caution, scale)
            if known[scale]:
                name = operand(subject, lifted, 1)
                yield said(subject, caution, place, f"scale '{name}' {dims(scale.shape)} {known[scale]}", name, "make it positive")


def _bad(subject: Subject, caution: Caution, scale: Const) -> str:
    low, high = subject.facts.ask("value_range", scale)
    total = prod(scale.shape)
    if "zeros" in caution.numbers:
        return "is 0 throughout" if low == high == 0 else ""
    if low > 0 or ("zero" in caution.numbers and high < 0):
        return ""
    only_zero = "zero" in caution.numbers
    count = sum(int(((t == 0) if only_zero else (t <= 0)).sum()) for t in (t.astype(np.float64) for t in tiles(subject.source(scale))))
    if not count:
        return ""
    return f"is {number(low)}" if total == 1 else f"has {count} of {total} values {'of 0' if only_zero else 'of 0 or less'}"
