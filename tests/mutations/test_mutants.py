"""Every planted fault is found by the check alone, and by the tests alone; ``python -m tests.mutations`` prints the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.mutations.found import by_the_check, by_the_tests, convert
from tests.mutations.mutants import MUTANTS, Mutant

every_mutant = pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
TEN = MUTANTS[:: len(MUTANTS) // 10][:10]


def test_there_are_enough() -> None:
    assert len(MUTANTS) >= 30
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)
    assert len({m.lowering for m in MUTANTS}) == len(qdqtool_lowerings())


def qdqtool_lowerings() -> tuple[object, ...]:
    from qdqtool.lowerings import all_lowerings

    return all_lowerings()


@every_mutant
def test_without_the_fault_the_check_passes(mutant: Mutant) -> None:
    conversion = convert(mutant)
    assert conversion.check is not None
    assert conversion.check.complete
    assert conversion.check.verdict == "equal"


@every_mutant
def test_the_check_alone_finds_it(mutant: Mutant) -> None:
    assert by_the_check(mutant)


@every_mutant
def test_the_tests_alone_find_it(mutant: Mutant) -> None:
    assert by_the_tests(mutant)


@pytest.mark.parametrize("mutant", TEN, ids=[m.name for m in TEN])
def test_a_wrong_output_is_status_3_and_not_written(
    mutant: Mutant, qdqtool: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.onnx").write_bytes(mutant.model().SerializeToString())
    before = sorted(p.name for p in tmp_path.iterdir())
    mutant.plant(monkeypatch)
    prefer = ["--prefer", "nodes"] if mutant.options else []
    run = qdqtool("convert", "in.onnx", "-o", "out.onnx", "--for" if isinstance(mutant.target, str) else "--opset", mutant.target, *prefer)
    assert run.status == 3, run.err
    assert "differs" in run.err
    assert sorted(p.name for p in tmp_path.iterdir()) == before
