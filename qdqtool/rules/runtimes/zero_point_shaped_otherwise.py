"""Scale and zero point have one element each, but not the same shape, and the runtime compares shapes.

**Why it matters**: most runtimes take ``[]`` beside ``[1]``; one that does not refuses the model.

**Bad**: scale ``[]``, zero point ``[1]``

**Good**: both ``[]``

**Fix**: give the zero point the scale's shape; ``qdqtool validate --fix`` does.

**Runtimes**: Core ML from iOS 18 on, by its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.mends import reshaped
from qdqtool.linting.runtimes import dims, operand, said, steps, told
from qdqtool.linting.subject import Subject

CODE = "QDQ411"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ135",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            scale, zero = lifted.step.scale, lifted.step.zero_point
            shapes = (scale.shape, None if zero is None else zero.shape)
            if None not in shapes and shapes[0] != shapes[1] and set(shapes) <= {(), (1,)}:
                names = [operand(subject, lifted, number) for number in (1, 2)]
                what = f"scale '{names[0]}' {dims(shapes[0])} and zero point '{names[1]}' {dims(shapes[1])}"
                yield said(
                    subject,
                    caution,
                    place,
                    what,
                    names[1],
                    "give the zero point the scale's shape",
                    reshaped(subject, place, () if scale.shape == () else (1,)),
                )
