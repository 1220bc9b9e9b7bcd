"""The slow part: wheels from 1.15 on in throwaway environments, measured again, and real models sent to each."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.node_cases import ABSENT
from tests.time_machine import measure, travel
from tests.time_machine.environments import WHEELS
from tests.time_machine.travel import EQUAL, NARROW, PARTS, REFUSED

pytestmark = pytest.mark.full

EQUALS = {"1.15": 106, "1.17": 110, "1.19": 110, "1.22": 111, "1.26": 116, "1.32": 118}
"""Of 118 models, those that came out equal when this was written; the rest is refused with a reason, or differs in float16 roundings."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the environments; QDQTOOL_WHEELS names one that is kept."""
    kept = os.environ.get("QDQTOOL_WHEELS")
    return Path(kept) if kept else tmp_path_factory.mktemp("wheels")


def test_the_table_is_what_the_wheels_do(wheels: Path, tmp_path: Path) -> None:
    committed = json.loads(measure.TABLE.read_text(encoding="utf-8"))
    measured = json.loads(measure.text(measure.table(wheels)))
    assert measured["versions"] == committed["versions"]


@pytest.mark.skipif(bool(ABSENT), reason=ABSENT)
@pytest.mark.parametrize("version", WHEELS)
def test_real_models_run_in_the_wheel_they_were_made_for(wheels: Path, tmp_path: Path, version: str) -> None:
    trips = travel.trips(version, travel.names(), wheels, tmp_path)
    found, theirs = Counter(t.ours for t in trips), Counter(t.theirs for t in trips)
    print(f"ort@{version}: {dict(found)}; onnx.version_converter {dict(theirs)}")
    assert found[EQUAL] >= EQUALS[version], found
    assert found[EQUAL] >= theirs[EQUAL]
    allowed = {EQUAL, PARTS, NARROW, REFUSED}
    assert [t for t in trips if t.ours not in allowed] == []
    unloaded = [t for t in trips if t.optimized not in ("loads", "") and not t.cautions and t.name not in CRASHES]
    assert unloaded == []


CRASHES = ("models/ort_testdata/transpose_optimizer_cancel_squeeze_per_axis_dq.onnx",)
"""A test of ONNX Runtime's for this very crash of older optimizers."""
