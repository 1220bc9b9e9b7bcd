"""onnx's own node tests, moved to every version of their operator: what moves gives the same bits in ONNX Runtime."""

from __future__ import annotations

import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnxruntime as ort
import onnxruntime.capi.onnxruntime_pybind11_state as ort_errors
import pytest
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from qdqtool import dtypes
from qdqtool.opsets import schemas
from qdqtool.opsets.edits import carry_out
from qdqtool.opsets.moves import Verdict, judge

# Random results; bodies with nodes of their own, which the caller moves; Q/DQ, which the capability table knows.
LEFT_OUT = {"Bernoulli", "If", "Loop", "Scan", "QuantizeLinear", "DequantizeLinear"}
# Old versions whose float64 kernels ONNX Runtime never had.
NO_KERNEL = {("Max", 7), ("Min", 7)}


@cache
def cases() -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return tuple(c for c in found if c.model is not None and len(c.model.graph.node) == 1 and not c.model.functions)


def feeds(case: Any) -> dict[str, np.ndarray] | None:
    given = [numpy_helper.to_array(a) if isinstance(a, TensorProto) else a for a in case.data_sets[0][0]]
    if not all(isinstance(a, np.ndarray) or np.isscalar(a) for a in given):
        return None
    return {v.name: np.asarray(a) for v, a in zip(case.model.graph.input, given, strict=False)}


def run(model: ModelProto, given: dict[str, np.ndarray]) -> list[Any] | None:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return list(session.run(None, given))
    except (RuntimeError, ort_errors.Fail, ort_errors.InvalidGraph, ort_errors.InvalidArgument, ort_errors.NotImplemented):
        return None


def moved(model: ModelProto, target: int, given: dict[str, np.ndarray]) -> tuple[Verdict, ModelProto]:
    values = [v for v in (*model.graph.input, *model.graph.output) if v.type.HasField("tensor_type")]
    types = {v.name: dtypes.of_code(v.type.tensor_type.elem_type) for v in values}
    shapes = {name: array.shape for name, array in given.items()}
    found = judge(model.graph.node[0], model.opset_import[0].version, target, types.get, shape_of=shapes.get)
    result = ModelProto()
    result.CopyFrom(model)
    result.ir_version, result.opset_import[0].version = 10, target
    carry_out(result.graph.node[0], found.edits)
    return found, result


def same(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray) or a.dtype == object:
        return str(a) == str(b)
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def close(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal up to four units in the last place of the largest value."""
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    largest = np.max(np.abs(a64[np.isfinite(a64)]), initial=0)
    return bool(np.allclose(a64, b64, rtol=0, atol=4 * np.finfo(a.dtype).eps * largest, equal_nan=True))


def outcomes(case: Any) -> Iterator[str]:
    node, given = case.model.graph.node[0], feeds(case)
    if given is None or node.domain or node.op_type in LEFT_OUT:
        return
    source, before = case.model.opset_import[0].version, None
    for target in {max(7, v) for v in schemas.versions(node.op_type)} - {source}:
        verdict, model = moved(case.model, target, given)
        if verdict.reasons:
            yield "refused"
            continue
        before = before or run(case.model, given)
        after = run(model, given)
        place = f"{case.name} {node.op_type} {source}>{target}"
        if before is None:
            yield "no kernel at the source"
        elif after is None:
            assert (node.op_type, target) in NO_KERNEL, place
        elif verdict.rounded:
            assert all(map(close, before, after)), place
            yield "rounded"
        else:
            assert all(map(same, before, after)), place
            yield "same"


def test_a_part_of_the_node_tests_moves_and_computes_the_same() -> None:
    found = Counter(o for c in cases() if zlib.crc32(c.name.encode()) % 8 == 0 for o in outcomes(c))
    assert found["same"] > 150


@pytest.mark.full
def test_all_node_tests_move_and_compute_the_same() -> None:
    found = Counter(o for c in cases() for o in outcomes(c))
    assert found["same"] >= 1600
    assert found["rounded"] >= 90
    assert found["refused"] < found["same"]
