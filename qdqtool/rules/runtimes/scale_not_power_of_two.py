"""A scale is no power of two, and the runtime only shifts.

**Why it matters**: the model is refused, or its scales are rounded to powers of two and its results change.

**Bad**: ``scale = 0.02``

**Good**: ``scale = 0.015625``, which is 2 to the -6

**Fix**: quantize with the vendor's power-of-two calibration.

**Runtimes**: AMD's NPU with the schemes XINT8 and VINT8, as its quantizer says.
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

CODE = "QDQ424"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        known: dict[Const, tuple[int, float]] = {}
        for place, lifted in steps(subject, caution):
            scale = lifted.step.scale
            if not is_const(scale):
                continue
            if scale not in known:
                known[scale] = _others(subject, scale)
            count, first = known[scale]
            if count:
                name = operand(subject, lifted, 1)
                many = f"has {count} values that are no power of two, such as {number(first)}"
                what = f"scale '{name}' {dims(scale.shape)} " + (many if prod(scale.shape) > 1 else f"is {number(first)}, no power of two")
                yield said(subject, caution, place, what, name)


def _others(subject: Subject, scale: Const) -> tuple[int, float]:
    """How many are none, and the first of them."""
    count, first = 0, 0.0
    for tile in tiles(subject.source(scale)):
        wide = tile.astype(np.float64)
        bad = np.frexp(wide)[0] != 0.5
        first = float(wide[bad][0]) if bad.any() and not count else first
        count += int(bad.sum())
    return count, first
