"""The cells of the matrix: (case, target) pairs, the fixed tenth that plain runs take, and the fixtures as cases."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import onnx

from tests.graphs import suite
from tests.graphs.case import Case
from tests.graphs.draft import Draft, digest

TARGETS = (7, 10, 11, 13, 17, 19, 21, 23, 24, 25, 27, 28)
FIXTURES = Path(__file__).parents[2] / "fixtures"
SHARE = 10
Cell = tuple[Case, int]


@cache
def cases() -> tuple[Case, ...]:
    """The generated suite, then every fixture."""
    return (*suite(), *(_fixture(p) for p in sorted(FIXTURES.glob("*.onnx"))))


def _fixture(path: Path) -> Case:
    opset = next(i.version for i in onnx.load(path, load_external_data=False).opset_import if i.domain in ("", "ai.onnx"))
    return Case(f"fixture/{path.stem}@{opset}", "fixture", opset, f"fixtures/{path.name}", partial(_load, path))


def _load(path: Path, draft: Draft) -> None:
    draft.whole = onnx.load(path)


def chosen(form: str, share: int = SHARE) -> list[Cell]:
    """One in `share` of a form's cells by hash, and always one for each target: that of the least hash."""
    cells = [(c, t) for c in cases() if c.form == form for t in TARGETS]
    least = {t: min((c for c, _ in cells), key=lambda c: _hash(c, t)) for t in TARGETS}
    return [(c, t) for c, t in cells if _hash(c, t) % share == 0 or least[t] is c]


def whole(form: str) -> list[Cell]:
    """All cells of a form."""
    return [(c, t) for c in cases() if c.form == form for t in TARGETS]


def _hash(case: Case, target: int) -> int:
    return digest(f"{case.id} to {target}")


def forms() -> list[str]:
    """Every form, in order."""
    return list(dict.fromkeys(c.form for c in cases()))
