"""The verbs of adapter tests: a node computes the same at another opset, becomes these operators, or is refused in these words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from . import adapting
from .adapting import Case

Row = tuple[Case, Sequence[int]]


def each(rows: Iterable[Row]) -> Any:
    """Every case to every one of its targets."""
    found = [pytest.param(case, target, id=f"{case}>{target}-{n}") for n, (case, targets) in enumerate(rows) for target in targets]
    return pytest.mark.parametrize(("case", "target"), found)


def same(case: Case, target: int) -> None:
    """It computes the same there."""
    assert adapting.verdict(case, target) == ""


def dynamic(case: Case) -> Case:
    """The same with shapes that only run time knows."""
    return replace(case, around=replace(case.around, shapes=False))


def becomes(case: Case, target: int) -> list[str]:
    """The operators that stand for the node."""
    found = adapting.moved(case, target)
    assert not isinstance(found, list), found
    return [node.op_type for node in found.nodes]


def refused(case: Case, target: int) -> str:
    """The reasons why it cannot be said."""
    found = adapting.moved(case, target)
    assert isinstance(found, list)
    return "; ".join(found)
