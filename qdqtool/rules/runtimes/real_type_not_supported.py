"""The runtime has the codes, but not with this type of scale, real values, or division.

**Why it matters**: the model does not load, though its codes are of a type that the runtime knows.

**Bad**: a bfloat16 scale, or ``precision = bfloat16``, in ONNX Runtime

**Good**: a float32 scale around float32 values, with Casts beside the node

**Fix**: ``qdqtool convert --for RUNTIME``.

**Runtimes**: ONNX Runtime, TVM and tract as measured; the others as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.capabilities import Row
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form
from qdqtool.linting.runtimes import at_hand, first_for, listed, operand, said, told
from qdqtool.linting.subject import Subject
from qdqtool.quantization import Meaning

CODE = "QDQ405"
SEVERITY = "error"
STAGE = "graph"

NOUNS = {"quantize": "input", "dequantize": "output"}


def check(subject: Subject) -> Iterator[Problem]:
    if subject.profile is None or subject.profile.rows is None:
        return
    cautions = told(subject, __name__)
    hint = f"qdqtool convert --for {subject.profile}" if subject.profile.converts else "use float32, with Casts beside the node"
    for form, places in subject.forms.items():
        rows = _rows(form.meaning, at_hand(subject, subject.steps[places[0]]))
        what = _lacking(form, rows)
        divided = "" if what else _divided(form, rows)
        mine = [c for c in cautions if bool(c.attribute) is bool(divided)]
        for place in places if what or divided else ():
            lifted = subject.steps[place]
            yield said(subject, first_for(mine, lifted), place, what or divided, operand(subject, lifted, 1), hint)


def _rows(meaning: Meaning, rows: list[Row]) -> list[Row]:
    return [row for row in rows if meaning.storage is None or meaning.storage in row.storage]


def _lacking(form: Form, rows: list[Row]) -> str:
    meaning = form.meaning
    if not rows:
        return ""
    for noun, dtype, column in ((NOUNS[meaning.kind], meaning.expressed, "expressed"), ("scale", meaning.scale_type, "scale")):
        allowed = frozenset(t for row in rows for t in getattr(row, column))
        if dtype is not None and dtype not in allowed and dtype in getattr(form.row, column):
            return f"{form.row} with {noun} of {dtype}; it takes {listed(allowed)}"
    return _coupled(form, rows)


def _coupled(form: Form, rows: list[Row]) -> str:
    pair = (form.meaning.expressed, form.meaning.scale_type)
    if None in pair or form.row.linked or pair[0] is pair[1]:
        return ""
    free = any(not row.linked and pair[0] in row.expressed and pair[1] in row.scale for row in rows)
    return "" if free else f"{form.row} with {NOUNS[form.meaning.kind]} of {pair[0]} and scale of {pair[1]}; it takes one type for both"


def _divided(form: Form, rows: list[Row]) -> str:
    compute = form.meaning.compute
    if compute is None or not rows or any(row.divides is None or compute in row.divides for row in rows):
        return ""
    return f"{form.row} that divides in {compute}; it takes {listed(frozenset(t for row in rows for t in row.divides or ()))}"
