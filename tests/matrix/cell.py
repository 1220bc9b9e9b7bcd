"""One cell: convert, judge, and say it with a letter.

Small letters are right: ``=`` same bytes, ``e`` exact, ``v`` equal but for signs of zero where claimed, ``w`` within the bound claimed;
refused because of ``p`` a port's type, ``q`` run-time quantization to a small float, ``t`` a row of the table.
Capitals are faults: ``R`` refused without excuse, ``N`` refused without naming node and reason, ``D`` different, ``I`` invalid,
``L`` something lost, ``U`` could not be judged, ``Z`` ONNX Runtime runs the original but calls the result invalid, ``X`` crashed,
``C`` the converter's own check failed, ``M`` the argument was changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from onnx import ModelProto

import qdqtool
from qdqtool.exactness import Bound, Exactness
from tests.graphs.case import Case
from tests.judge import Subject, judge
from tests.matrix.excuses import excuse

LETTERS = {"exact": "e", "value": "v", "within": "w", "different": "D", "invalid": "I", "lost": "L", "unjudged": "U", "unrunnable": "Z"}


@dataclass(frozen=True)
class Outcome:
    """A letter and what there is to say."""

    letter: str
    detail: str = ""
    by: str = ""


@lru_cache(maxsize=4)
def subject(case: Case) -> Subject:
    """The case's model with its outputs; cells come case by case."""
    return Subject(case.model(), case.shapes, case.id)


def outcome(case: Case, target: int, *, check: bool = False) -> Outcome:
    """Convert and judge."""
    original = subject(case)
    before = original.model.SerializeToString(deterministic=True)
    try:
        conversion = qdqtool.convert(original.model, opset=target, check=check)
    except qdqtool.Refused as refused:
        return _refused(original.model, case, target, refused)
    except qdqtool.CheckFailed as failed:
        return Outcome("C", str(failed)[:500])
    except Exception as error:
        return Outcome("X", f"{type(error).__name__}: {error}"[:500])
    if original.model.SerializeToString(deterministic=True) != before:
        return Outcome("M", "the argument was changed")
    if target == case.opset and conversion.model.SerializeToString(deterministic=True) == before:
        return Outcome("=")
    return _judged(original, conversion, target)


def _judged(original: Subject, conversion: Any, target: int) -> Outcome:
    exactness, bound = claimed(conversion)
    verdict = judge(original, conversion.model, target, exactness, bound=bound, notes=conversion.notes)
    return Outcome(LETTERS[verdict.word], verdict.detail, verdict.by)


def claimed(conversion: Any) -> tuple[Exactness, Bound]:
    """The weakest class of all changes, and the sum of their bounds."""
    exactness = max((c.exactness for c in conversion.changes), default=Exactness.BIT_EQUAL)
    return exactness, sum((c.bound for c in conversion.changes if c.bound), Bound())


def _refused(model: ModelProto, case: Case, target: int, refused: Any) -> Outcome:
    detail = "; ".join(f"{r.at}: {', '.join(r.reasons)}" for r in refused.reasons)[:500]
    letter = excuse(model, case.form, target)
    if not letter:
        return Outcome("R", detail)
    named = refused.reasons and all(r.at and r.reasons and all(r.reasons) for r in refused.reasons)
    return Outcome(letter if named else "N", detail)


def sums(rows: Iterable[str]) -> Counter[str]:
    """How often each letter occurs."""
    return Counter(letter for row in rows for letter in row)
