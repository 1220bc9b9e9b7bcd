from __future__ import annotations

import sys

import pytest


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="processor time of other processes is measured as POSIX does")
def test_a_small_model_costs_little() -> None:
    from tests.benchmarks import startup

    assert startup.extra(startup.measured(rounds=11)) <= startup.LIMIT
