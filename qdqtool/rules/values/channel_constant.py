"""All codes of a weight, or of some of its channels, are the same; or stand for next to nothing.

**Why it matters**: codes that all equal the zero point are 0. Either the model has dead channels, which cost time and can be cut away,
or the quantization lost them: one scale for all channels rounds a small channel to 0, and a scale far too large does the same.

**Bad**: ``codes[3] = [0, 0, 0, 0, 0, 0, 0, 0, 0]`` under one scale for all channels

**Good**: the same channel under a scale of its own

**Fix**: compare with the float weights; if they are not 0 there, quantize per channel.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool.expressions import is_const
from qdqtool.findings import Problem, Severity
from qdqtool.kernels.sources import Array
from qdqtool.linting.subject import Subject
from qdqtool.linting.weights import Weight
from qdqtool.quantization import PerTensor

CODE = "QDQ209"
SEVERITY = "info"
STAGE = "graph"

FAINT = 2.0**-20
"""A channel smaller than this share of the largest is 0 for all purposes."""

HOLD = ("holds", "hold")

FEWEST = 9
"""Channels of fewer elements may well be constant."""


def check(subject: Subject) -> Iterator[Problem]:
    for weight in subject.weights:
        codes = weight.codes
        if (weight.role != "weight" and len(weight.const.shape) < 2) or codes.count < FEWEST * codes.lows.size:
            continue
        told = _whole(weight) if codes.low == codes.high else _channels(weight)
        if told:
            severity: Severity = "warning" if codes.low == codes.high and weight.role else "info"
            yield subject.problem(weight.place, *told, about=weight.name, severity=severity)


def _whole(weight: Weight) -> tuple[str, str]:
    zeros, value = weight.zeros, weight.codes.low
    meaning = ", the zero point: all values are 0" if zeros is not None and (zeros == value).all() else ""
    return f"all {weight.codes.count} codes of {weight} are {value:.0f}{meaning}", "compare with the float weights"


def _channels(weight: Weight) -> tuple[str, str] | None:
    codes = weight.codes
    same = codes.lows == codes.highs
    if not same.any() and _alike(weight):
        return None
    zeros, scales = weight.zeros, weight.scales
    if same.any():
        dead = same if zeros is None else same & (codes.lows == zeros)
        return _told(weight, dead, HOLD, "only zeros") if dead.any() else _told(weight, same, HOLD, "one code only")
    if zeros is None or scales is None or scales.size < 2:
        return None
    sizes = np.abs(scales) * np.maximum(np.abs(codes.lows - zeros), np.abs(codes.highs - zeros))
    faint = sizes < FAINT * sizes.max()
    reached = f"{sizes[int(np.argmax(faint))]:.2g} where others reach {sizes.max():.2g}"
    return _told(weight, faint, ("reaches", "reach"), reached) if faint.any() else None


def _alike(weight: Weight) -> bool:
    """The scales are so close that channels of at least two codes differ less; true of nearly all."""
    scale, dtype = weight.lifted.step.scale, weight.const.dtype
    held = weight.subject.facts.ask("scales", scale) if is_const(scale) and dtype.integer else None
    return held is not None and bool(held.least * 0.5 > FAINT * held.greatest * 2.0 ** (dtype.bits + 1))


def _told(weight: Weight, chosen: Array, verbs: tuple[str, str], what: str) -> tuple[str, str]:
    one_scale = isinstance(weight.lifted.step.meaning.granularity, PerTensor)
    hint = "one scale serves all channels: quantize per channel" if one_scale else "compare with the float weights"
    number, first = int(chosen.sum()), int(np.argmax(chosen))
    return f"{number} of {chosen.size} channels (axis {weight.axis}) of {weight} {verbs[number > 1]} {what}, first {first}", hint
