"""What staging needs of memory: a few MiB, whatever the size of the data, for every kind of new constant."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

MIB = 64
LIMITS = {"folded": 64 << 20, "moved": 128 << 20}
"""Bytes above those before: pieces for two threads, or panels of a transposition too."""

SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
from tests.model.memory import growth, folded, moved
path, mib, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
print(json.dumps(growth(path, mib, {"folded": folded, "moved": moved}[what])))
"""


def measured(folder: Path, mib: int, what: str) -> dict[str, int]:
    arguments = [sys.executable, "-c", SCRIPT, str(folder), str(mib), what]
    run = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, int] = json.loads(run.stdout)
    return found


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak of resident memory is read from Linux's /proc")
@pytest.mark.parametrize("what", ["folded", "moved"])
def test_peak_memory_does_not_follow_the_data(what: str, tmp_path: Path) -> None:
    found = measured(tmp_path, MIB, what)
    assert found["written"] >= MIB << 20
    assert found["grown"] < LIMITS[what]
