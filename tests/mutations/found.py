"""Who finds a planted fault: the check of a conversion, and the tests of the lowering."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import qdqtool
from qdqtool.conversion import Conversion
from tests.lowerings.verbs import exact, noop
from tests.mutations.mutants import Mutant


def convert(mutant: Mutant) -> Conversion:
    aim: dict[str, Any] = {"target": mutant.target} if isinstance(mutant.target, str) else {"opset": mutant.target}
    return qdqtool.convert(mutant.model(), **aim, **mutant.options)


def by_the_check(mutant: Mutant) -> str:
    """The first difference the check reports; empty when it passes."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        mutant.plant(patch)
        try:
            convert(mutant)
        except qdqtool.CheckFailed as failed:
            return next(str(c) for c in failed.report.comparisons if c.verdict == "different")
    return ""


def by_the_tests(mutant: Mutant) -> str:
    """The first test of the lowering that fails; empty when all pass."""
    tests = importlib.import_module(f"tests.lowerings.test_{mutant.lowering}")
    lowering = importlib.import_module(f"qdqtool.lowerings.{mutant.lowering}")
    with pytest.MonkeyPatch.context() as patch:
        mutant.plant(patch)
        for verb, table in ((exact, tests.EXACT), (noop, tests.NOOP)):
            for name, given in table.items():
                try:
                    verb(lowering, given)
                except Exception:
                    return f"test_{mutant.lowering}.py::test_{verb.__name__}[{name}]"
    return ""
