"""Each rule about ONNX Runtime holds in the one installed here: it refuses or changes the bad model and runs the good one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto

from qdqtool import dtypes
from qdqtool.kernels.quantize import quantize
from tests.judging import runtime
from tests.rules.case import Case
from tests.rules.runtimes.cases_ort import CASES, PROOFS
from tests.rules.suite import feeds

LEVELS = ort.GraphOptimizationLevel
OFF, BASIC, ALL = LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_BASIC, LEVELS.ORT_ENABLE_ALL
WAYS_OUT = {"QDQ429": ("session.qdq_matmulnbits_accuracy_level", "0"), "QDQ430": ("session.disable_double_qdq_remover", "1")}
"""What the hint of a rule says keeps the results."""


def ran(model: ModelProto, level: Any = ALL, given: dict[str, Any] | None = None, option: tuple[str, str] | None = None) -> Any:
    """The first output, or where it failed."""
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads, options.graph_optimization_level = 4, 1, level
    if option is not None:
        options.add_session_config_entry(*option)
    stage = "load"
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        stage = "run"
        return session.run_with_ort_values(None, feeds(session, model) | (given or {}))[0]
    except Exception:
        return stage


def values(model: ModelProto, level: Any = ALL, **more: Any) -> np.ndarray[Any, Any]:
    found = ran(model, level, **more)
    assert not isinstance(found, str), found
    return np.asarray(found.numpy())


def of(proof: str) -> list[Case]:
    return [case for case in CASES if PROOFS[case.name] == proof]


def named(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_good_twin_runs(case: Case) -> None:
    assert not isinstance(ran(case.good, ALL), str)
    assert not isinstance(ran(case.good, OFF), str)


@pytest.mark.parametrize("case", [*of("load"), *of("run")], ids=named)
def test_it_refuses_the_bad_one_with_and_without_optimizations(case: Case) -> None:
    assert case.severity == "error"
    assert (ran(case.bad, ALL), ran(case.bad, OFF)) == (PROOFS[case.name],) * 2


@pytest.mark.parametrize("case", of("optimizer"), ids=named)
def test_its_optimizations_break_the_bad_one(case: Case) -> None:
    assert case.severity == "error"
    assert ran(case.bad, ALL) == "load"
    assert not isinstance(ran(case.bad, OFF), str)


@pytest.mark.parametrize("case", of("changes"), ids=named)
def test_its_optimizations_change_the_results_of_the_bad_one_only(case: Case) -> None:
    assert case.severity != "error"
    level = ALL if case.code == "QDQ429" else BASIC
    assert np.abs(values(case.bad, level) - values(case.bad, OFF)).max() > 1e-4
    assert np.allclose(values(case.good, level), values(case.good, OFF), rtol=1e-6, atol=1e-6)
    if case.code in WAYS_OUT:
        assert np.allclose(values(case.bad, level, option=WAYS_OUT[case.code]), values(case.bad, OFF), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", of("g_idx"), ids=named)
def test_an_order_that_changes_nothing_changes_the_result(case: Case) -> None:
    assert np.abs(values(case.bad, OFF) - values(case.good, OFF)).max() > 0.1


EDGES = {
    "e4m3fn-not-saturating": (490.0, dtypes.FLOAT8E4M3FN, 448.0, np.nan),
    "e5m2-not-saturating": (62000.0, dtypes.FLOAT8E5M2, np.nan, np.inf),
}
"""A value, the type of the codes, and what the code stands for: here, and by the specification (which the kernels follow)."""


@pytest.mark.parametrize("case", of("saturate"), ids=named)
def test_what_is_too_large_gets_another_code_than_specified(case: Case) -> None:
    value, storage, here, specified = EDGES[case.name]
    x = np.full(4, value, np.float32)
    found = ran(case.bad, OFF, {"x": runtime.value(x)})
    assert not isinstance(found, str)
    assert np.array_equal(runtime._array(found, storage).astype(np.float32), np.full(4, here, np.float32), equal_nan=True)
    right = quantize(x, np.ones((), np.float32), None, storage=storage, axis=None, block=None, compute=dtypes.FLOAT, saturate=False)
    assert np.array_equal(right.astype(np.float32), np.full(4, specified, np.float32), equal_nan=True)


@pytest.mark.parametrize("case", of("unfused"), ids=named)
def test_operators_between_wide_codes_stay(case: Case, tmp_path: Path) -> None:
    assert "Sigmoid" in operators(case.bad, tmp_path / "bad.onnx")
    assert "Sigmoid" not in operators(case.good, tmp_path / "good.onnx")


def operators(model: ModelProto, path: Path) -> set[str]:
    """Those of the optimized graph."""
    options = ort.SessionOptions()
    options.log_severity_level, options.optimized_model_filepath = 4, str(path)
    ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    optimized = ModelProto.FromString(path.read_bytes())
    return {node.op_type for node in optimized.graph.node}


def test_every_case_is_proved() -> None:
    assert {case.name for case in CASES} == set(PROOFS)
