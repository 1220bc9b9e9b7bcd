"""MatMulBnb4 against ONNX Runtime's kernel and a scalar formula: the same weights, from bytes that stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

import qdqtool
from qdqtool.dialects.matmul_bnb4 import FP4, NF4
from tests.dialects.layouts import MICROSOFT, Array, built, constants, operators, run

LAYOUTS = [(8, 32, 16), (8, 32, 64), (5, 33, 16), (3, 7, 16), (6, 48, 32), (16, 64, 64), (7, 24, 32), (4, 16, 128), (1, 100, 32)]


def model(n: int, k: int, block: int, kind: int, real: Any, seed: int = 0) -> tuple[ModelProto, Array]:
    """A node, and the weights ``[K, N]`` that it stands for, one scalar at a time."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 16, n * k + n * k % 2)
    scale = rng.uniform(0.1, 2, -(-n * k // block)).astype(real)
    data = np.array([int(codes[i]) << 4 | int(codes[i + 1]) for i in range(0, len(codes), 2)], np.uint8)
    weights = np.zeros((k, n), real)
    for row in range(n):
        for column in range(k):
            at = row * k + column
            weights[column, row] = real(np.float32((NF4 if kind else FP4)[codes[at]]) * np.float32(scale[at // block]))
    attributes = {"K": k, "N": n, "block_size": block, "quant_type": kind}
    code = helper.np_dtype_to_tensor_dtype(np.dtype(real))
    node = helper.make_node("MatMulBnb4", ["A", "B", "absmax"], ["y"], "product", domain=MICROSOFT, **attributes)
    return built([node], [("A", code, ("batch", k))], [("y", code)], {"B": data, "absmax": scale}, 17), weights


@pytest.mark.parametrize("real", [np.float32, np.float16], ids=["f32", "f16"])
@pytest.mark.parametrize("kind", [0, 1], ids=["fp4", "nf4"])
@pytest.mark.parametrize(("n", "k", "block"), LAYOUTS)
def test_it_becomes_a_look_up_of_the_same_weights(n: int, k: int, block: int, kind: int, real: Any) -> None:
    original, weights = model(n, k, block, kind, real)
    result = qdqtool.convert(original, to="ai.onnx")
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    identity = {"A": np.eye(k, dtype=real)}
    assert np.array_equal(run(original, identity)["y"], weights)
    assert np.array_equal(run(result.model, identity)["y"], weights)
    assert not {node.domain for node in result.model.graph.node} - {""}


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(1, 90), st.sampled_from((16, 32, 64)), st.integers(0, 1), st.integers(0, 1 << 30))
def test_any_shape_and_values(n: int, k: int, block: int, kind: int, seed: int) -> None:
    original, weights = model(n, k, block, kind, np.float32, seed)
    result = qdqtool.convert(original, to="ai.onnx", check=False).model
    assert np.array_equal(run(result, {"A": np.eye(k, dtype=np.float32)})["y"], weights)


def test_bytes_stay_as_they_are_stored() -> None:
    original, _ = model(64, 128, 64, 1, np.float32)
    result = qdqtool.convert(original, to="ai.onnx", check=False).model
    assert operators(result) == ["Cast", "Gather", "Reshape", "Mul", "Reshape", "Transpose", "MatMul"]
    assert np.array_equal(constants(result)["B"], constants(original)["B"])
    grown = [sum(a.nbytes for a in constants(m).values()) for m in (original, result)]
    assert grown[1] - grown[0] == 256 * 2 * 4 + 2 * 2 * 8


@pytest.mark.parametrize("opset", [7, 9])
def test_any_opset(opset: int) -> None:
    original, weights = model(8, 32, 16, 0, np.float32)
    result = qdqtool.convert(original, to="ai.onnx", opset=opset, check=False).model
    assert np.array_equal(run(result, {"A": np.eye(32, dtype=np.float32)})["y"], weights)


def test_a_probe_holds_whole_blocks_of_a_large_one() -> None:
    rng = np.random.default_rng(0)
    n, k, block = 1024, 1000, 64
    node = helper.make_node("MatMulBnb4", ["A", "B", "s"], ["y"], "big", domain=MICROSOFT, K=k, N=n, block_size=block, quant_type=1)
    held = {"B": rng.integers(0, 256, n * k // 2, np.uint8), "s": rng.random(n * k // block, np.float32)}
    result = qdqtool.convert(built([node], [("A", TensorProto.FLOAT, (2, k))], [("y", TensorProto.FLOAT)], held, 17), to="ai.onnx")
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    assert [note for note in result.check.notes if "bytes of its constants" in note] == [
        "main / big: 144000 of 576000 bytes of its constants"
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"transB": 0}, "its weights are [K, N] (transB 0), which only training uses"),
        ({"block_size": 24}, "MatMulBnb4 has no blocks of 24, or no codes of kind 0"),
        ({"quant_type": 2}, "MatMulBnb4 has no blocks of 16, or no codes of kind 2"),
        ({"N": 9}, "its weights have the shape [128]"),
        ({"N": 0}, "N, K or block_size is missing"),
    ],
)
def test_what_it_cannot_tell_is_refused(changes: dict[str, int], reason: str) -> None:
    original, _ = model(8, 32, 16, 0, np.float32)
    node = original.graph.node[0]
    given = {a.name: a.i for a in node.attribute} | changes
    del node.attribute[:]
    node.attribute.extend(helper.make_attribute(name, value) for name, value in given.items())
    with pytest.raises(qdqtool.Refused) as refused:
        qdqtool.convert(original, to="ai.onnx")
    assert reason in refused.value.reasons[0].reasons


def test_runtimes_that_lack_it_get_a_look_up() -> None:
    original, _ = model(8, 32, 16, 0, np.float32)
    assert "MatMulBnb4" in operators(qdqtool.convert(original, target="ort", check=False).model)
    assert "MatMulBnb4" not in operators(qdqtool.convert(original, target="ort@1.15", check=False).model)


def test_no_steps_become_one() -> None:
    with pytest.raises(qdqtool.errors.Usage, match="no dialect"):
        qdqtool.convert(model(8, 32, 16, 0, np.float32)[0], to="matmulbnb4")


def test_inspect_tells_codes_and_blocks() -> None:
    (row,) = qdqtool.inspect(model(8, 32, 16, 1, np.float16)[0]).quantized
    assert (row.form.op, row.form.storage, row.form.expressed, row.form.granularity, row.form.scale) == (
        *("MatMulBnb4", "uint4", "float16"),
        *("blocks of 16 along axis 1", "float16"),
    )
