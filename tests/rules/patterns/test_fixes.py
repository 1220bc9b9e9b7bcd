"""Fixes of values and patterns: the finding goes, and a safe one changes no bit of the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto

from tests.rules.case import Case
from tests.rules.patterns import cases_layers, cases_pairs
from tests.rules.specification.test_fixes import problems
from tests.rules.suite import feeds
from tests.rules.values import cases_weights

ALL = [*cases_weights.CASES, *cases_pairs.CASES, *cases_layers.CASES]
SAFE = [case for case in ALL if case.code in ("QDQ302", "QDQ317", "QDQ320")]
UNSAFE = [
    case for case in ALL if case.code == "QDQ211" or (case.code == "QDQ301" and "behind" not in case.name and "channels" not in case.name)
]


def name(case: Case) -> str:
    return f"{case.code}-{case.name}"


def results(model: ModelProto) -> list[Any]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds(session, model)))


def mended(case: Case, *, safe: bool) -> ModelProto:
    model = ModelProto()
    model.CopyFrom(case.bad)
    for problem in problems(model, case.code):
        assert problem.fix is not None
        assert problem.fix.safe is safe
        problem.fix.apply()
    assert problems(model, case.code) == []
    return model


@pytest.mark.parametrize("case", SAFE, ids=name)
def test_a_safe_fix_keeps_every_bit(case: Case) -> None:
    for before, after in zip(results(case.bad), results(mended(case, safe=True)), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("case", UNSAFE, ids=name)
def test_an_unsafe_fix_stays_near(case: Case) -> None:
    model = mended(case, safe=False)
    if case.code == "QDQ211":
        for before, after in zip(results(case.bad), results(model), strict=True):
            np.testing.assert_allclose(before, after, atol=0.51)
    else:
        for after, good in zip(results(model), results(case.good), strict=True):
            np.testing.assert_array_equal(after, good)
