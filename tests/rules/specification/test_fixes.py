"""Safe fixes: the finding goes, the model runs, and gives what the good twin gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto

from qdqtool import dtypes as t
from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.model.load import Loaded
from qdqtool.rules import all_rules
from qdqtool.targets import profile
from tests.rules.case import attribute, changed, codes, constant, ir, model, node, operands, scales, tensor, zeros
from tests.rules.specification.cases_files import BLOCKS as INT4
from tests.rules.specification.cases_files import FUNCTION
from tests.rules.specification.cases_shapes import PLAIN
from tests.rules.specification.cases_types import CODES, PAIR
from tests.rules.suite import cases, feeds

BLOCKS = model(
    "g () => (float[8,4] y) { y = DequantizeLinear <axis = 0, block_size = 2> (c, s) }", 21, c=codes(t.INT4, 8, 4), s=scales(4, 4)
)
BRANCH = model(
    """g (bool b) => (float[4,6] y) {
        y = If (b) <
            then_branch = th () => (float[4,6] a) { a = DequantizeLinear(c, s, z) },
            else_branch = el () => (float[4,6] e) { e = DequantizeLinear(c, s, z) }
        >
    }""",
    21,
    c=codes(t.INT8, 4, 6),
    s=scales(6),
    z=np.arange(6).astype(np.int8),
)
MENDED = (
    "QDQ131-a bias without axis",
    "QDQ131-a quantize of a vector without axis",
    "QDQ131-the same in com.microsoft",
    "QDQ134-scalar zero point, several scales",
    "QDQ134-one zero point, several scales",
    "QDQ135-zero point [1], scale []",
    "QDQ135-zero point [], scale [1]",
    "QDQ135-the same at opset 10",
    "QDQ139-the wrong axis for blocks",
    "QDQ139-the wrong axis of a square",
    "QDQ150-int4 at IR 9",
    "QDQ150-float8 at IR 8",
    "QDQ150-a function at IR 7",
    "QDQ151-a scale that is no input at IR 3",
    "QDQ151-no initializer is an input at IR 3",
    "QDQ123-neither zero point nor type",
)
"""Rows of the suite whose fix gives back what the twin computes, or (123) what the model computed before."""


def problems(proto: ModelProto, code: str, runtime: str = "ort") -> list[Problem]:
    return list(all_rules()[code].check(Subject(Loaded(proto, None, Path()), profile(runtime))))


def mended(bad: ModelProto, code: str, runtime: str = "ort") -> ModelProto:
    """All problems of a rule mended by its fixes."""
    proto = changed(bad)
    for problem in problems(proto, code, runtime):
        assert problem.fix is not None
        assert problem.fix.safe
        problem.fix.apply()
    assert problems(proto, code, runtime) == []
    return proto


def results(proto: ModelProto) -> list[Any]:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [np.asarray(value.numpy()) for value in session.run_with_ort_values(None, feeds(session, proto))]


def same(first: ModelProto, second: ModelProto) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(results(first), results(second), strict=True))


BY_NAME = {f"{case.code}-{case.name}": case for case in cases()}


@pytest.mark.parametrize("name", MENDED)
def test_a_fix_gives_back_the_twin(name: str) -> None:
    case = BY_NAME[name]
    proto = mended(case.bad, case.code)
    assert same(proto, case.bad if case.code == "QDQ123" else case.good)


def test_a_declared_type_becomes_the_zero_point() -> None:
    bad = BY_NAME["QDQ121-uint8 declared as int8"].bad
    (result,) = results(mended(bad, "QDQ121"))
    (before,) = results(CODES)
    assert result.dtype == np.int8
    assert np.array_equal(result, before)


def test_a_zero_point_that_others_read_stays() -> None:
    bad = changed(BRANCH, constant(s=0.5), lambda m: node(m, "a").input.__setitem__(1, "s6"), constant(s6=scales(6), z=zeros(t.INT8)))
    proto = mended(changed(bad, attribute("a", axis=1)), "QDQ134")
    assert tensor(proto, "z").dims == []
    assert [list(i.dims) for g in node(proto, "y").attribute for i in g.g.initializer] == [[6]]
    results(proto)


def test_a_zero_point_that_nobody_reads_goes() -> None:
    proto = mended(changed(BRANCH, constant(z=zeros(t.INT8))), "QDQ134")
    assert {i.name for i in proto.graph.initializer} == {"c", "s"}
    results(proto)


def test_blocks_that_fit_along_one_other_axis() -> None:
    assert same(mended(changed(BLOCKS, attribute("y", axis=1)), "QDQ139"), BLOCKS)


def test_blocks_that_fit_along_no_or_two_axes_stay() -> None:
    for bad in (constant(s=scales(3, 3)), constant(c=codes(t.INT4, 4, 4, 4), s=scales(3, 4, 4))):
        found = [p for code in ("QDQ137", "QDQ138", "QDQ139") for p in problems(changed(BLOCKS, bad), code)]
        assert [p.fix for p in found] == [None]


def test_zero_points_of_another_length_stay() -> None:
    (problem,) = problems(changed(BRANCH, constant(z=zeros(t.INT8, 4))), "QDQ134")[:1]
    assert problem.fix is None


def test_in_a_function_the_zero_point_becomes_a_constant_node() -> None:
    proto = mended(changed(FUNCTION, lambda m: m.functions[0].node[0].input.pop(), drop_zero), "QDQ123")
    assert [n.op_type for n in proto.functions[0].node] == ["Constant", "QuantizeLinear", "DequantizeLinear"]
    results(proto)


def drop_zero(proto: ModelProto) -> None:
    """The dequantize of the function without zero point too."""
    proto.functions[0].node[1].input.pop()


def test_an_ir_version_that_the_runtime_does_not_load_is_no_safe_fix() -> None:
    bad = changed(INT4, ir(9))
    assert [p.fix.safe for p in problems(bad, "QDQ150", "ort@1.32") if p.fix] == [True]
    assert [p.fix.safe for p in problems(bad, "QDQ150", "ort@1.17") if p.fix] == [False]


OF_RUNTIMES = (
    ("QDQ410", "tensorrt@10.1", changed(PAIR, operands("q", "x", "s"), operands("y", "q", "s"))),
    ("QDQ411", "coreml", BY_NAME["QDQ135-zero point [1], scale []"].bad),
    ("QDQ412", "tensorrt@10.1", changed(PLAIN, attribute("w", axis=None))),
)


@pytest.mark.parametrize(("code", "runtime", "bad"), OF_RUNTIMES, ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_runtime_wants_written_changes_no_result(code: str, runtime: str, bad: ModelProto) -> None:
    assert same(mended(bad, code, runtime), bad)
