"""Scales around an operator are powers of two, but too far apart for the shifts that the runtime has.

**Why it matters**: hardware that shifts has few bits for the distance. Out of range, the model is refused or its results are wrong.

**Bad**: a Conv whose input and weight scales are so small that the sum must be shifted by 20 bits

**Good**: a shift between 0 and 16

**Fix**: let the vendor's quantizer refine the scales.

**Runtimes**: AMD's NPU with the schemes XINT8 and VINT8, as its quantizer says.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log2

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import one_number, said, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import Unit, units
from qdqtool.plan.lift import Lifted

CODE = "QDQ425"
SEVERITY = "error"
STAGE = "graph"

Limits = dict[str, tuple[float, ...]]
GATES = ("Sigmoid", "HardSigmoid")


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for unit in units(subject, caution.ops):
            for name, value, (low, high) in _shifts(subject, unit, dict(caution.numbers)):
                if not low <= value <= high:
                    what = f"{unit.op} with {name} of {value:g}, not {low:g} to {high:g}"
                    yield said(subject, caution, unit.place, what, name.split()[0])


def position(subject: Subject, lifted: Lifted | None) -> float | None:
    """``-log2(scale)`` of a step with one scale, which is a power of two."""
    scale = None if lifted is None else one_number(subject, lifted.step.scale)
    found = -log2(scale) if scale is not None and 0 < scale < inf else 0.5
    return found if found == round(found) else None


def _shifts(subject: Subject, unit: Unit, limits: Limits) -> Iterator[tuple[str, float, tuple[float, ...]]]:
    """Each shift by its name, with its range; nothing where a scale is not known."""
    ins = [p for slot in (0, 1) if (p := position(subject, unit.inputs.get(slot))) is not None]
    out = position(subject, unit.output)
    if len(ins) == 2 and "products" in limits:
        yield from _products(subject, unit, ins, out, limits)
    elif len(ins) == 2 and out is not None:
        known = {"read": max(ins) - min(ins), "write": min(ins) - out, "cut": sum(ins) - out, "gate": sum(ins) - out}
        gated = any(_gate(subject, unit, slot) for slot in (0, 1))
        names = ("read", "write", "gate" if gated else "cut")
        yield from ((f"{name} shift", known[name], limits[name]) for name in names if name in limits)
    elif len(ins) == 1 and out is not None and "position" in limits:
        values = {"position": ins[0], "result": out, "slope": 14 + ins[0] - out}
        yield from ((name, value, limits[name]) for name, value in values.items())


def _products(
    subject: Subject, unit: Unit, ins: list[float], out: float | None, limits: Limits
) -> Iterator[tuple[str, float, tuple[float, ...]]]:
    if out is None:
        return
    cut = sum(ins) - out
    if "cut" in limits:
        yield "cut shift", cut, limits["cut"]
    bias = position(subject, unit.inputs.get(2))
    if "bias" in limits and bias is not None:
        yield "bias shift", sum(ins) - bias, (min(0, -(24 - (8 + cut))), 15)


def _gate(subject: Subject, unit: Unit, slot: int) -> bool:
    """The operand is a quantized Sigmoid or HardSigmoid: the product is a Swish."""
    lifted = unit.inputs.get(slot)
    codes = subject.producer(lifted.place, lifted.source.order[0]) if lifted is not None else None
    made = subject.producer(codes, 0) if codes is not None and codes in subject.steps else None
    return made is not None and subject.node(made).op_type in GATES
