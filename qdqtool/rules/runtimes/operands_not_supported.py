"""The runtime has the operator on codes, but not for these types together.

**Why it matters**: kernels exist for pairs of types. What is not among them is refused, or stays in float on another device.

**Bad**: int8 activations beside uint8 weights: no kernel in ONNX Runtime or QNN

**Good**: uint8 activations beside int8 weights

**Fix**: make one of the two fit: uint8 codes less 128 are int8 codes with a zero point less 128.

**Runtimes**: ONNX Runtime, OpenVINO and QNN as measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from qdqtool.capabilities import Types
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, said, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import Unit, units
from qdqtool.model.graph import Place
from qdqtool.targets.cautions import Caution
from qdqtool.targets.demands import spread

CODE = "QDQ419"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        if "operands" in caution.numbers:
            yield from _fused(subject, caution)
        elif "scalar" in caution.numbers:
            yield from _scalar(subject, caution)
        else:
            known = _known(subject)
            found = [(unit.place, _pair(unit, caution, known)) for unit in units(subject, caution.ops)]
            yield from (said(subject, caution, place, what, "1") for place, what in found if what)


def _fused(subject: Subject, caution: Caution) -> Iterator[Problem]:
    for place in subject.nodes(*sorted(caution.ops), domain=caution.domain):
        names = subject.node(place).input
        types = [subject.types.at(subject.scope(place), names[int(i)]).dtype for i in caution.numbers["operands"] if int(i) < len(names)]
        if len(types) == 2 and None not in types and (str(types[0]), str(types[1])) not in caution.pairs:
            yield said(subject, caution, place, f"{subject.node(place).op_type} of {types[0]} and {types[1]}", names[0])


def _scalar(subject: Subject, caution: Caution) -> Iterator[Problem]:
    for place in subject.nodes(*sorted(caution.ops), domain=caution.domain):
        for name, shape in _operands(subject, place, [int(i) for i in caution.numbers["scalar"]]):
            if shape is not None and prod(d or 2 for d in shape) != 1:
                yield said(subject, caution, place, f"scale '{name}' {dims(shape)}", name)


def _operands(subject: Subject, place: Place, slots: list[int]) -> Iterator[tuple[str, tuple[int | None, ...] | None]]:
    names, scope = subject.node(place).input, subject.scope(place)
    yield from ((names[i], subject.types.at(scope, names[i]).shape) for i in slots if i < len(names))


def _known(subject: Subject) -> Types:
    """Codes that it takes at all; of others codes-not-supported tells."""
    assert subject.profile is not None
    return frozenset(dtype for row in subject.profile.rows or () for dtype in row.storage)


def _pair(unit: Unit, caution: Caution, known: Types) -> str:
    data, weight = unit.inputs.get(0), unit.inputs.get(1)
    if data is None or weight is None or data.storage not in known or weight.storage not in known:
        return ""
    if (caution.storage and weight.storage not in caution.storage) or ("bias" in caution.numbers and 2 not in unit.inputs):
        return ""
    if spread(weight.step.meaning) not in caution.spread or (str(data.storage), str(weight.storage)) in caution.pairs:
        return ""
    return f"{unit.op} of {data.storage} and {weight.storage}, {weight.step.meaning.granularity}"
