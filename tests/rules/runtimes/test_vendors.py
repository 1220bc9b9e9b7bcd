"""Findings of the profiles that are not ONNX Runtime's, and that every number of the survey of runtimes is looked for."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from onnx import ModelProto

from qdqtool.findings import Finding
from qdqtool.linting.engine import linted
from qdqtool.linting.subject import Subject
from qdqtool.model.load import load
from qdqtool.rules import all_rules, name_of
from qdqtool.targets import all_targets, profile
from qdqtool.targets.cautions import Caution
from tests.conftest import ROOT
from tests.rules.runtimes.vendors import compilers, coreml, directml, litert, openvino, qnn, tensorrt, vitis
from tests.rules.runtimes.vendors.models import Given

RULES = [rule for code, rule in all_rules().items() if code.startswith("QDQ4")]
GIVEN = [given for vendor in (compilers, coreml, directml, litert, openvino, qnn, tensorrt, vitis) for given in vendor.GIVEN]
SURVEY = ROOT.parent / "shared" / "rules.json"


def found(model: ModelProto, target: str) -> list[Finding]:
    return list(linted(Subject(load(model, trusting=True), profile(target)), RULES).findings)


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: given.name)
def test_a_vendor_is_told_apart(given: Given) -> None:
    bad = found(given.bad, given.target)
    assert given.message in [f.message for f in bad if f.code == given.code]
    assert [f for f in found(given.good, given.target) if f.code == given.code] == []
    assert {f.runtime for f in bad} == {str(profile(given.target))}


def rows() -> Iterator[tuple[str, Caution]]:
    """Every row of every profile but ONNX Runtime's, with the name of the runtime."""
    for name, runtime in all_targets().items():
        for version in (runtime.versions() or (None,)) if name not in ("ort", "opset") else ():
            made = runtime.profile(version)
            assert made is not None
            yield from ((name, caution) for caution in made.cautions.rows)


def test_every_row_is_read_by_a_rule_that_exists() -> None:
    known = {name_of(rule) for rule in all_rules().values()} | {""}
    assert {caution.rule for _, caution in rows()} <= known
    assert {caution.rule for caution in profile("ort").cautions.rows} <= known


def test_every_row_is_found_in_some_model() -> None:
    messages: dict[tuple[str, str], list[str]] = {}
    for given in GIVEN:
        messages.setdefault((given.target.partition("@")[0], given.code), []).append(given.message)
    codes = {name_of(rule): rule.CODE for rule in RULES}
    missed = {
        (name, caution.rule, caution.text)
        for name, caution in rows()
        if caution.rule and not any(m.endswith(caution.text) for m in messages.get((name, codes[caution.rule]), ()))
    }
    assert missed == set()


TOLD_BY_OTHERS = {
    "ort-cpu-07": "QDQ1",
    "ort-cpu-08": "QDQ1",
    "ort-cpu-09": "QDQ1",
    "ort-cpu-10": "QDQ124",
    "ort-cpu-12": "QDQ2",
    "ort-cpu-13": "QDQ125",
    "qnn-htp-15": "QDQ1",
}
"""Breaches of the specification, which need no profile: the code, or the hundred, that has them."""
LEFT_OUT = {
    "onnx2tf-01": "a converter of graphs, which runs none",
    "nncf-01": "a quantizer, which writes what others run",
    "nncf-02": "a quantizer, which writes what others run",
}


@pytest.mark.skipif(not SURVEY.is_file(), reason="the survey of runtimes lies beside the project")
def test_the_survey_is_in_the_profiles() -> None:
    survey = {row["id"] for row in json.loads(SURVEY.read_text(encoding="utf-8"))}
    told = {caution.id for _, caution in rows()} | {caution.id for caution in profile("ort").cautions.rows}
    told -= {""}
    assert told <= survey
    assert survey - told == set(TOLD_BY_OTHERS) | set(LEFT_OUT)
    assert all(any(code.startswith(prefix) for code in all_rules()) for prefix in TOLD_BY_OTHERS.values())
