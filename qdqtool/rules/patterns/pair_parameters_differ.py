"""Codes are dequantized with other parameters than they were quantized with.

**Why it matters**: the pair no longer stands for rounding; it scales and shifts every value. Editing one scale of a pair, or two steps
that shared it before a tool copied one of them, leaves that.

**Bad**: ``DequantizeLinear(QuantizeLinear(x, 0.01, 128), 0.02, 128)``

**Good**: both with scale 0.01 and zero point 128

**Fix**: ``--fix --unsafe`` gives the dequantize the parameters of the quantize.

**Runtimes**: ONNX Runtime 1.32 computes what is written, optimized or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Fix, Problem
from qdqtool.linting import rewrites
from qdqtool.linting.pairs import MOVING, behind, equal, is_step, parameters
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.quantization import PerTensor

CODE = "QDQ301"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        if lifted.step.meaning.kind == "dequantize":
            maker, between = behind(subject, place, MOVING)
            if maker is not None and is_step(subject, maker, "quantize") and _comparable(subject, maker, place, bool(between)):
                codes = f"codes '{subject.node(place).input[lifted.source.order[0]]}' were made with"
                message = f"{codes} {parameters(subject, maker)}, and are read with {parameters(subject, place)}"
                yield subject.problem(place, message, "give both the same parameters", fix=_fix(subject, maker, place))


def _comparable(subject: Subject, maker: Place, place: Place, moved: bool) -> bool:
    """They differ for sure; channels that moved between are not compared."""
    granularities = (subject.steps[p].step.meaning.granularity for p in (maker, place))
    if moved and not all(isinstance(g, PerTensor) for g in granularities):
        return False
    return equal(subject, maker, place) is False


def _fix(subject: Subject, maker: Place, place: Place) -> Fix | None:
    both = (subject.steps[p].step.meaning for p in (maker, place))
    alike = all(isinstance(m.granularity, PerTensor) for m in both) and maker.scope == place.scope
    names = subject.node(maker).input
    same_type = subject.steps[maker].step.meaning.storage is subject.steps[place].step.meaning.storage
    orders = subject.steps[maker].source.order, subject.steps[place].source.order
    if not alike or not same_type or orders[0] != orders[1] or len(names) != len(subject.node(place).input):
        return None
    return rewrites.rewired(subject, place, dict(enumerate(names[1:], 1)), "give it the parameters of the quantize")
