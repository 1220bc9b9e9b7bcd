"""A scale is 0.

**Why it matters**: a quantize step divides by it, which the specification gives no meaning: ONNX Runtime 1.32 makes the highest code of
every positive number and the lowest of all others. A dequantize step gives 0 whatever the codes are. Calibration saw no data there, a
channel held only zeros, or a small float16 scale was rounded to 0.

**Bad**: ``scale = [0.02, 0.0, 0.01]``

**Good**: ``scale = [0.02, 1.0, 0.01]``, and codes equal to the zero point where the channel is 0

**Fix**: calibrate again; for a channel that is 0, any positive scale does.

**Runtimes**: TensorRT refuses the model, Core ML one whose scales are all 0; ONNX Runtime loads it.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ201"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for scale in subject.scales:
        if scale.held.zero:
            divides = scale.quantizes
            effect = "dividing by 0 has no meaning" if divides else "those values are 0 whatever their codes"
            hint = "calibrate again, or write 1 where the tensor holds only zeros"
            message = f"{scale.told(scale.held.zero, '0')}: {effect}{scale.shared()}"
            yield subject.problem(scale.places[0], message, hint, about=scale.name, severity="error" if divides else "warning")
