"""Every broken model is flagged with exactly the expected words, and its good twin is clean and runs in ONNX Runtime."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from qdqtool.rules import all_rules
from tests.rules.case import Case
from tests.rules.suite import Answers, answers, cases, of_bad

CASES = list(cases())
GRADED = ("QDQ1", "QDQ2")
"""Groups of which each code has three broken models, and whose errors must be the expected ones."""


def name(case: Case) -> str:
    return f"{case.code}-{case.name}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_broken_model_is_flagged_in_these_words(case: Case) -> None:
    found = of_bad(case).findings
    own = [f for f in found if f.code == case.code]
    assert [f.message for f in own] == [case.message, *case.more]
    assert own[0].severity == case.severity
    assert {f.code for f in found if f.severity == "error" and f.code.startswith(GRADED)} <= {case.code, *case.also}


@cache
def of_twin(model: bytes, files: tuple[tuple[str, bytes], ...]) -> Answers:
    return answers(type(CASES[0].good).FromString(model), dict(files))


@pytest.mark.parametrize("case", CASES, ids=name)
def test_its_twin_is_clean_and_runs(case: Case) -> None:
    good = of_twin(case.good.SerializeToString(deterministic=True), tuple(sorted(case.files.items())))
    assert (good.load, good.run) == ("", "")
    assert [f for f in good.findings if f.severity == "error" or f.code == case.code] == []


def test_names_are_unique() -> None:
    assert [n for n, count in Counter(map(name, CASES)).items() if count > 1] == []


def test_three_broken_models_for_each_code() -> None:
    counted = Counter(case.code for case in CASES)
    assert {code: counted[code] for code in all_rules() if code.startswith(GRADED) and counted[code] < 3} == {}
    assert len(CASES) >= 150
