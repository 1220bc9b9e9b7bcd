"""Codes are dequantized and quantized again with the same parameters.

**Why it matters**: the codes come back as they were; two nodes do nothing. Optimizers of ONNX Runtime take the pair away, others run it.

**Bad**: ``QuantizeLinear(DequantizeLinear(q, 0.02, 128), 0.02, 128)``

**Good**: ``q``

**Fix**: ``--fix`` lets the readers of the second codes read the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Fix, Problem
from qdqtool.linting import rewrites
from qdqtool.linting.pairs import behind, equal, is_read, is_step
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ302"
SEVERITY = "info"
STAGE = "graph"

TAME = (1e-30, 1e30)
"""Between these, the rounding of product and quotient stays far below half a step of 16 bits."""


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        maker, _ = behind(subject, place) if lifted.step.meaning.kind == "quantize" else (None, ())
        if maker is not None and is_step(subject, maker, "dequantize") and equal(subject, maker, place) and is_read(subject, place):
            codes = subject.node(maker).input[subject.steps[maker].source.order[0]]
            message = f"codes '{codes}' are dequantized and quantized again with the same parameters"
            yield subject.problem(place, message, f"read '{codes}' instead", fix=_fix(subject, maker, place, codes))


def _fix(subject: Subject, maker: Place, place: Place, codes: str) -> Fix | None:
    step = subject.steps[place].step
    storage, scale = step.meaning.storage, step.scale
    if storage is None or not storage.integer or storage.bits > 16 or not is_const(scale) or maker.scope != place.scope:
        return None
    held = subject.facts.ask("scales", scale)
    tame = not held.zero and not held.special and held.least > TAME[0] and held.greatest < TAME[1]
    return rewrites.replaced(subject, place, codes) if tame else None
