"""The codes of a weight fill half of their bits or fewer.

**Why it matters**: int8 codes that stay within 16 neighbours carry 4 bits. Either the weight was quantized to 4 bits and stored in 8, as
exporters for older opsets do, then it could be half as large; or the scale is far too large, and precision is lost.

**Bad**: int8 codes from -7 to 7

**Good**: the same codes as int4; or int8 codes from -127 to 127 under a scale 18 times smaller

**Fix**: ``qdqtool convert --opset N --simplify`` stores such codes in the narrower type where the opset has it; or quantize again.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ213"
SEVERITY = "info"
STAGE = "graph"

FEWEST = 64
"""Weights of fewer elements say nothing."""


def check(subject: Subject) -> Iterator[Problem]:
    for weight in subject.weights:
        dtype, codes = weight.const.dtype, weight.codes
        if weight.role == "bias" or not dtype.integer or dtype.bits > 16 or codes.count < FEWEST:
            continue
        needed = max(1, int(codes.high - codes.low).bit_length())
        if codes.high > codes.low and needed <= dtype.bits // 2:
            message = f"codes of {weight} lie between {codes.low:.0f} and {codes.high:.0f}: {needed} of {dtype.bits} bits are used"
            yield subject.problem(weight.place, message, "a narrower type, or a smaller scale", about=weight.name)
