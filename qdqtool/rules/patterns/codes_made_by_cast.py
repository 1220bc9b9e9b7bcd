"""Codes that are dequantized were made by a Cast of float numbers.

**Why it matters**: Cast rounds towards zero and wraps around where QuantizeLinear rounds to the nearest even and saturates: 300.0 becomes
44 in uint8, and 2.7 becomes 2. Round and Clip before the Cast make it right, and are taken for what they are.

**Bad**: ``DequantizeLinear(Cast(Div(x, s), to=uint8), s, 0)``

**Good**: ``DequantizeLinear(QuantizeLinear(x, s, 0), s, 0)``

**Fix**: QuantizeLinear instead of Div, Add and Cast.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.pairs import behind
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ305"
SEVERITY = "warning"
STAGE = "graph"

ROUNDING = ("Round", "Clip", "Floor", "Ceil", "Where", "Min", "Max")


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        maker, _ = behind(subject, place) if lifted.step.meaning.kind == "dequantize" else (None, ())
        if maker is not None and lifted.storage is not None and lifted.storage.integer and _plain_cast(subject, maker):
            codes = subject.node(place).input[lifted.source.order[0]]
            message = f"codes '{codes}' were made by Cast, which rounds towards zero and wraps around {lifted.storage}"
            yield subject.problem(place, message, "QuantizeLinear rounds and saturates", about=codes)


def _plain_cast(subject: Subject, place: Place) -> bool:
    node = subject.node(place)
    read = subject.types.at(subject.scope(place), node.input[0]).dtype if node.op_type == "Cast" and node.input else None
    before = subject.producer(place, 0)
    return read is not None and read.kind == "float" and (before is None or subject.node(before).op_type not in ROUNDING)
