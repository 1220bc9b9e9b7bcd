"""The runtime takes fewer kinds of scales: one for each tensor, or none for each block.

**Why it matters**: the model is refused, however good its codes are.

**Bad**: ``block_size = 32`` in TVM; a scale for each channel in AMD's power-of-two scheme

**Good**: one scale for each tensor or channel

**Fix**: quantize with coarser scales. Where blocks have equal scales, ``qdqtool convert`` joins them.

**Runtimes**: TVM and tract as measured; AMD's NPU, Core ML below iOS 18 and LiteRT as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form
from qdqtool.linting.runtimes import at_hand, dims, first_for, operand, said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.quantization import Blocked, PerAxis

CODE = "QDQ406"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    if subject.profile is None or subject.profile.rows is None:
        return
    cautions = told(subject, __name__)
    for form, places in subject.forms.items():
        what = _lacking(subject, form, places[0])
        for place in places if what else ():
            lifted = subject.steps[place]
            name = operand(subject, lifted, 1)
            told_of = f"scale '{name}' {dims(form.scale.shape)}: {what}"
            yield said(subject, first_for(cautions, lifted), place, told_of, name, "quantize with coarser scales")


def _lacking(subject: Subject, form: Form, place: Place) -> str:
    rows = at_hand(subject, subject.steps[place])
    match form.meaning.granularity:
        case Blocked() as blocks if rows and form.row.blocks and not any(r.blocks for r in rows):
            return f"{blocks}, and it has no blocks"
        case PerAxis() as axis if rows and form.row.vector and not any(r.vector for r in rows):
            return f"{axis}, and it takes one scale for each tensor"
    return ""
