"""What ``validate --for ort@V`` says is what the wheel of that version does, for wheels from 1.15 on in throwaway environments."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from qdqtool import dtypes
from qdqtool.linting.engine import linted
from qdqtool.linting.subject import Subject
from qdqtool.model.load import load
from qdqtool.rules import all_rules
from qdqtool.targets import profile
from tests.rules.case import Case
from tests.rules.runtimes.cases_ort import CASES, PROOFS
from tests.time_machine.environments import WHEELS, answers, interpreter

pytestmark = pytest.mark.full

SHOWN = ("load", "run", "optimizer")
"""Proofs that show as an error of the session."""
FAILING = [case for case in CASES if PROOFS[case.name] in SHOWN]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the environments; QDQTOOL_WHEELS names one that is kept."""
    kept = os.environ.get("QDQTOOL_WHEELS")
    return Path(kept) if kept else tmp_path_factory.mktemp("wheels")


def errors(model: ModelProto, version: str) -> list[str]:
    """The errors that qdqtool finds for that version."""
    found = linted(Subject(load(model, trusting=True), profile(f"ort@{version}")), list(all_rules().values())).findings
    return [f"{f.code} {f.message}" for f in found if f.severity == "error"]


def job(name: str, model: ModelProto, folder: Path) -> dict[str, Any]:
    """A run with default options on ones."""
    feeds = {}
    for value in model.graph.input:
        kind, shape = dtypes.of_code(value.type.tensor_type.elem_type), [d.dim_value for d in value.type.tensor_type.shape.dim]
        assert kind is not None
        feeds[value.name] = np.ones(shape, kind.numpy)
    np.savez(folder / f"{name}.npz", **feeds)
    text = base64.b64encode(model.SerializeToString()).decode()
    given = {"feeds": str(folder / f"{name}.npz"), "results": str(folder / f"{name}-out.npz")}
    return {"id": name, "model": text, "optimized": True, **given}


def sides(case: Case) -> tuple[tuple[str, ModelProto], tuple[str, ModelProto]]:
    return (f"{case.name}-good", case.good), (f"{case.name}-bad", case.bad)


@pytest.mark.parametrize("version", WHEELS)
def test_a_wheel_refuses_what_has_errors_and_runs_the_rest(wheels: Path, tmp_path: Path, version: str) -> None:
    models = dict(side for case in FAILING for side in sides(case))
    jobs = [job(name, model, tmp_path) for name, model in models.items()]
    said = {answer["id"]: answer["error"] for answer in answers(interpreter(wheels, version), jobs, tmp_path)}
    differing = {
        name: (said[name], errors(model, version)) for name, model in models.items() if bool(said[name]) != bool(errors(model, version))
    }
    assert differing == {}
