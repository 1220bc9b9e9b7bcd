"""The runtime takes this and computes something else than the specification says.

**Why it matters**: nothing fails. The numbers are wrong, a little or by the whole range.

**Bad**: ``QLinearAdd`` in OpenVINO, which wraps around where it should saturate; int16 codes with a float16 scale there, which become
float16 before the zero point is subtracted; int8 Softmax with zero point 0 in QNN

**Good**: DequantizeLinear, Add, QuantizeLinear; a float32 scale; zero point -128

**Fix**: the hint names the form that is right.

**Runtimes**: OpenVINO, QNN, TVM and ONNX Runtime (float8 with ``saturate = 0``), as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import one_number, operand, said, steps, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import Unit, units
from qdqtool.plan.lift import Lifted
from qdqtool.targets.cautions import Caution
from qdqtool.targets.demands import READ, is_read_otherwise

CODE = "QDQ427"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        if caution.domain:
            for place in subject.nodes(*sorted(caution.ops), domain=caution.domain):
                yield said(subject, caution, place, f"{caution.domain} {subject.node(place).op_type}", subject.node(place).op_type)
        elif READ in caution.numbers:
            yield from _read(subject, caution)
        elif "Cast" in caution.ops:
            yield from _casts(subject, caution)
        elif caution.ops:
            found = (unit for unit in units(subject, caution.ops) if _into(subject, caution, unit))
            yield from (
                said(subject, caution, u.place, f"{u.op} to {u.output.storage} with another zero point", u.op)
                for u in found
                if u.output is not None
            )
        else:
            yield from _steps(subject, caution)


def _read(subject: Subject, caution: Caution) -> Iterator[Problem]:
    for unit in units(subject, caution.ops):
        data = unit.inputs.get(0)
        if data is not None and is_read_otherwise(caution, data.step.meaning):
            what = f"{unit.op} of '{operand(subject, data, 0)}', {data.step.meaning.granularity}"
            yield said(subject, caution, unit.place, what, operand(subject, data, 1))


def _casts(subject: Subject, caution: Caution) -> Iterator[Problem]:
    for place in subject.nodes("Cast"):
        found = {a.name: a.i for a in subject.node(place).attribute}
        if not found.get("saturate", 1) and dtypes.of_code(found.get("to", 0)) in caution.storage:
            yield said(subject, caution, place, f"Cast to {dtypes.of_code(found['to'])}, not saturating", "saturate")


def _into(subject: Subject, caution: Caution, unit: Unit) -> bool:
    """Its result has the type, and a zero point, that goes wrong."""
    if unit.output is None or unit.output.storage not in caution.storage:
        return False
    zero = unit.output.step.zero_point
    value = 0.0 if zero is None else one_number(subject, zero)
    return value is not None and value not in caution.numbers["zero"]


def _steps(subject: Subject, caution: Caution) -> Iterator[Problem]:
    for place, lifted in steps(subject, caution):
        if not caution.attribute or not _default(subject, caution, lifted):
            meaning = lifted.step.meaning
            yield said(subject, caution, place, str(meaning), operand(subject, lifted, 0))


def _default(subject: Subject, caution: Caution, lifted: Lifted) -> bool:
    written = subject.attribute(lifted.place, lifted.source.theirs(caution.attribute))
    return written is None or written.i not in caution.numbers["value"]
