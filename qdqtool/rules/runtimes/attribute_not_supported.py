"""A quantize or dequantize node has an attribute that the runtime refuses.

**Why it matters**: the model does not load.

**Bad**: ``precision`` in TVM

**Good**: the node without it, where that means the same

**Fix**: leave the attribute out where it says the default, else write the computation otherwise.

**Runtimes**: TVM as measured. (Attributes that com.microsoft's operators never had are told by the rules of the specification.)
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import at_hand, first_for, said, told
from qdqtool.linting.subject import Subject

CODE = "QDQ407"
SEVERITY = "error"
STAGE = "graph"

OTHERS = ("axis", "block_size")
"""What scales are for is told by granularity-not-supported."""


def check(subject: Subject) -> Iterator[Problem]:
    if subject.profile is None or subject.profile.rows is None:
        return
    cautions = told(subject, __name__)
    for form, places in subject.forms.items():
        rows = at_hand(subject, subject.steps[places[0]])
        known = frozenset(name for row in rows for name in row.attributes)
        given = (name for name in map(form.row.theirs, form.given) if name in form.row.attributes and name not in OTHERS)
        refused = sorted(name for name in given if rows and name not in known)
        for place in places if refused else ():
            what = f"{form.row} with {' and '.join(refused)}, which it has not"
            caution = first_for(cautions, subject.steps[place])
            yield said(subject, caution, place, what, refused[0], "leave it out where that means the same")
