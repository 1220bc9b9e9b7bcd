"""Channels of very different size share one scale.

**Why it matters**: the scale follows the largest channel; one 32 times smaller keeps 3 bits of 8, one 128 times smaller nothing.
Depthwise convolutions and layers with folded batch normalization are known for it, and it is the usual reason why a network loses
accuracy per tensor and not per channel.

**Bad**: one scale for a weight whose channels reach 127, 90, 2 and 1

**Good**: a scale for each channel

**Fix**: quantize this weight per channel (output channels: axis 0 of Conv, 1 of ConvTranspose, the last of MatMul).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.linting.weights import Weight
from qdqtool.quantization import PerTensor

CODE = "QDQ215"
SEVERITY = "info"
STAGE = "graph"

RATIO = 32
"""Channels smaller by this keep 3 of 8 bits."""


def check(subject: Subject) -> Iterator[Problem]:
    for weight in subject.weights:
        if weight.role == "weight" and weight.axis is not None and isinstance(weight.lifted.step.meaning.granularity, PerTensor):
            problem = _problem(subject, weight)
            if problem is not None:
                yield problem


def _problem(subject: Subject, weight: Weight) -> Problem | None:
    zeros = weight.zeros
    if zeros is None or not weight.const.dtype.integer:
        return None
    sizes = np.maximum(np.abs(weight.codes.lows - zeros), np.abs(weight.codes.highs - zeros))
    small = (sizes > 0) & (sizes * RATIO <= sizes.max())
    if not small.any():
        return None
    least = int(np.argmin(np.where(small, sizes, np.inf)))
    number = int(small.sum())
    channels = f"{number} of {sizes.size} channels (axis {weight.axis}) of {weight}"
    verb = "keeps" if number == 1 else "keep"
    message = f"{channels} {verb} few codes under the common scale: channel {least} up to {sizes[least]:.0f} of {sizes.max():.0f}"
    return subject.problem(weight.place, message, "a scale for each channel", about=weight.name)
