"""The same suite through onnx.version_converter, judged by the same judge, side by side: ``python -m tests.matrix.peers [STEP]``."""

from __future__ import annotations

import sys
from collections import Counter

from onnx import version_converter

from tests.graphs.case import Case
from tests.judge import judge
from tests.judging.validity import room
from tests.matrix import golden
from tests.matrix.cell import LETTERS, subject
from tests.matrix.cells import TARGETS, cases
from tests.matrix.excuses import excuse

COLUMNS = (
    ("same bytes", "="),
    ("exact", "e"),
    ("value", "v"),
    ("within", "w"),
    ("refused rightly", "pqt"),
    ("refused", "RN"),
    ("different", "D"),
    ("invalid", "I"),
    ("lost", "L"),
    ("unjudged", "UZ"),
    ("crashed", "XC"),
)


def peer(case: Case, target: int) -> str:
    """The letter onnx.version_converter gets; what it writes is compared bit for bit, its ir_version, which it never lowers, forgiven."""
    original = subject(case)
    try:
        converted = version_converter.convert_version(original.model, target)
    except Exception:
        return excuse(original.model, case.form, target) or "R"
    converted.ir_version = min(converted.ir_version, room(converted, target))
    return LETTERS[judge(original, converted, target).word]


def main(step: int) -> None:
    """Print one line for each target and one for all."""
    rows = golden.read()
    picked = cases()[::step]
    tables = {"qdqtool": {c.id: rows[c.id] for c in picked}, "onnx": {c.id: "".join(peer(c, t) for t in TARGETS) for c in picked}}
    print(f"{'target':>8} {'tool':8}" + "".join(f"{name:>16}" for name, _ in COLUMNS))
    for i, target in [*enumerate(TARGETS), (None, "all")]:
        for tool, table in tables.items():
            found = Counter("".join(row if i is None else row[i] for row in table.values()))
            print(f"{target!s:>8} {tool:8}" + "".join(f"{sum(found[x] for x in letters):>16}" for _, letters in COLUMNS))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
