"""The whole tool folds weights of any size in little memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

NEEDED = 4 << 30
WIDTH = 4096

BUILD = """
import sys
from pathlib import Path
from tests.benchmarks.subjects import llm
llm(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), "float16")
"""

# In a process of its own, which is small: the peak of a child counts what its parent had when it started it.
MEASURE = "import json, sys; from tests.benchmarks.processes import measured; print(json.dumps(measured(sys.argv[1:], 600)))"


def python(script: str, *arguments: str) -> str:
    run = subprocess.run([sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is counted in other units elsewhere")
@pytest.mark.parametrize("megabytes", [64, pytest.param(512, marks=pytest.mark.full)])
def test_folding_int4_to_float16_keeps_within_its_memory(megabytes: int, tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < NEEDED:
        pytest.skip("less than 4 GB of disk are free")
    model, result = tmp_path / "model.onnx", tmp_path / "out.onnx"
    python(BUILD, str(model), str(megabytes * 1_000_000 * 2 // WIDTH**2 + 1), str(WIDTH))
    command = [sys.executable, "-m", "qdqtool", "fold", str(model), "-o", str(result), "--weights", "--no-check", "-q"]
    _, _, peak, failure = json.loads(python(MEASURE, *command))
    assert failure == ""
    assert sum(p.stat().st_size for p in tmp_path.glob("out*")) >= megabytes * 4_000_000
    assert peak <= 128 + 3 * model.stat().st_size / (1 << 20)
