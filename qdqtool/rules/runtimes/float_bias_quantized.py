"""A float bias beside quantized input and weight, which the runtime quantizes itself.

**Why it matters**: one step more or less on a few results in a thousand, though the model has no QuantizeLinear for the bias.

**Bad**: a Conv on dequantized input and weight with a float bias, where results must be equal bit for bit

**Good**: the bias as int32 with scale ``x_scale * w_scale``

**Fix**: none needed where a step does not matter.

**Runtimes**: ONNX Runtime from level BASIC on, as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.biases import float_biases
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject

CODE = "QDQ432"
SEVERITY = "info"
STAGE = "graph"

HINT = "nothing to do, unless every bit counts: then int32 with the scale x_scale * w_scale"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        found = float_biases(subject, caution)
        if found:
            bias = found[0].bias
            assert bias is not None
            more = f", one of {len(found)}" if len(found) > 1 else ""
            yield said(subject, caution, found[0].place, f"float bias '{bias.name}'{more}", bias.name, HINT)
