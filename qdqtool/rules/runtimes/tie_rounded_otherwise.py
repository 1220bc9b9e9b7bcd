"""A quantize node with an odd zero point, which the runtime adds before it rounds.

**Why it matters**: ONNX rounds ``x / scale`` half to even, then adds. Rounded after adding an odd number, a value exactly between two
codes goes to the other one: comparisons bit for bit fail, and nothing is wrong otherwise.

**Bad**: zero point 3

**Good**: zero point 4, or 0

**Fix**: none needed where one step at ties does not matter; an even zero point makes both equal.

**Runtimes**: OpenVINO as measured: QuantizeLinear becomes FakeQuantize there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool.expressions import Const, is_const
from qdqtool.findings import Problem
from qdqtool.kernels.sources import tiles
from qdqtool.linting.runtimes import dims, operand, said, steps, told
from qdqtool.linting.subject import Subject

CODE = "QDQ428"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            zero = lifted.step.zero_point
            odd = _odd(subject, zero) if is_const(zero) else 0
            if odd and zero is not None:
                name = operand(subject, lifted, 2)
                what = f"zero point '{name}' {dims(zero.shape)} is odd"
                yield said(subject, caution, place, what if zero.shape in ((), (1,)) else f"{what} in {odd} places", name)


def _odd(subject: Subject, zero: Const) -> int:
    return sum(int((tile.astype(np.int64) % 2 != 0).sum()) for tile in tiles(subject.source(zero)))
