"""Many codes of a weight, or any of an int32 bias, are at the end of their type.

**Why it matters**: what is at the end was likely cut off there. A scale made from the largest number puts one or two codes at the ends;
beyond two for each scale, 5 % of 8-bit codes (30 % of 4-bit codes, 1 % of 16-bit codes) speak for a scale that is too small. A bias at
2147483647 has a scale (``x_scale * w_scale``) so small that the bias does not fit; its true value is lost.

**Bad**: int8 codes of which 40 % are -128 or 127

**Good**: int8 codes of which 0.1 % are

**Fix**: a larger scale, or one for each channel; for a bias, a larger weight scale in that channel (quantizers put a floor under it).
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.expressions import elements
from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.linting.weights import Weight

CODE = "QDQ208"
SEVERITY = "warning"
STAGE = "graph"

LIMITS = {4: 0.3, 8: 0.05, 16: 0.01, 32: 0.0}
"""Largest share at the ends that passes, by bits."""

FEWEST = 64
"""Weights of fewer elements say nothing."""


def check(subject: Subject) -> Iterator[Problem]:
    for weight in subject.weights:
        limit = LIMITS.get(weight.const.dtype.bits) if weight.const.dtype.integer else None
        bias = weight.const.dtype is dtypes.INT32
        if limit is None or (not bias and (weight.codes.count < FEWEST or weight.codes.low == weight.codes.high)):
            continue
        found = weight.codes.at_low + weight.codes.at_high
        usual = 0 if bias else 2 * elements(weight.lifted.step.scale.shape)
        if found - usual > limit * weight.codes.count:
            yield _problem(subject, weight, found)


def _problem(subject: Subject, weight: Weight, found: int) -> Problem:
    codes, bias = weight.codes, weight.const.dtype is dtypes.INT32
    share = f"{found} of {codes.count} codes" if bias else f"{100 * found / codes.count:.0f} % of the codes"
    ends = " and ".join(f"{end:.0f}" for end, number in ((codes.low, codes.at_low), (codes.high, codes.at_high)) if number)
    hint = "a larger weight scale in those channels" if bias else "a larger scale, or one for each channel"
    verb = "is" if found == 1 else "are"
    return subject.problem(weight.place, f"{share} of {weight} {verb} at the end of the type ({ends})", hint, about=weight.name)
