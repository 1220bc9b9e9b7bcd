"""Values that are computed at run time are quantized with a scale for each channel.

**Why it matters**: a layer sums over the channels of its input, so an integer kernel needs one scale for all of them. ONNX Runtime 1.32
computes the layers on both sides in float (seen in its optimized models); QNN and TensorRT reject the model.

**Bad**: ``QuantizeLinear(conv_output, scale[C], axis=1) -> Conv``

**Good**: ``QuantizeLinear(conv_output, scale)``

**Fix**: quantize activations per tensor; only weights have scales for each channel.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.pairs import behind, is_step
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.quantization import PerAxis

CODE = "QDQ318"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place in dict.fromkeys(layer.data.step for layer in subject.layers):
        step = subject.steps[place].step if place is not None else None
        where = step.meaning.granularity if step is not None else None
        if place is None or step is None or not isinstance(where, PerAxis) or is_const(step.x) or step.scale.shape == (1,):
            continue
        maker, _ = behind(subject, place)
        if maker is None or not (is_step(subject, maker, "quantize") and is_const(subject.steps[maker].step.x)):
            name, number = operand_name(subject, place, 0), (step.scale.shape or ("?",))[0]
            message = f"input '{name}' of a layer is quantized {where}, with {number} scales"
            yield subject.problem(place, message, "one scale for activations", about=name)
