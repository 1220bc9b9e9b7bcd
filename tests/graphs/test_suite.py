"""The suite is as large and as wide as it claims, legal at its source, and the same in every process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from tests.graphs import suite
from tests.graphs.params import GRANULARITIES, OPSETS, SCALE_SINCE, SINCE, ZEROS

ROOT = Path(__file__).parents[2]


def fingerprint() -> str:
    """Of every model, in order."""
    seen = hashlib.sha256()
    for case in suite():
        seen.update(case.id.encode() + case.model().SerializeToString(deterministic=True))
    return seen.hexdigest()


def test_it_is_large_and_ids_are_unique() -> None:
    ids = [c.id for c in suite()]
    assert len(ids) >= 1500
    assert len(set(ids)) == len(ids)
    assert all(c.note for c in suite())


@pytest.mark.parametrize("form", ["dq-constant", "dq-input"])
@pytest.mark.parametrize("part", [*map(str, SINCE), *GRANULARITIES, *map(str, SCALE_SINCE), *ZEROS, *(f"at{o}" for o in OPSETS), "ms17"])
def test_every_value_of_a_grid_occurs(form: str, part: str) -> None:
    assert any(part in c.id.split("/")[1].split("-") for c in suite() if c.form == form)


def test_every_model_passes_the_checker() -> None:
    failed = {}
    for case in suite():
        try:
            onnx.checker.check_model(case.model(), full_check=True)
        except Exception as error:
            failed[case.id] = str(error)
    assert not {k: v for k, v in failed.items() if k not in {c.id for c in suite() if c.odd}}


def test_two_processes_build_the_same_models() -> None:
    code = "from tests.graphs.test_suite import fingerprint; print(fingerprint())"
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
