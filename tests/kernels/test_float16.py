"""The conversion through ONNX Runtime: same bits as numpy's, and no ONNX Runtime for little work."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnx
import onnxruntime  # noqa: F401 - so that the kernel takes it from the start
import pytest
from onnx import TensorProto, helper

from qdqtool.kernels import float16
from tests.conftest import ROOT


def halves(bits: np.ndarray) -> bytes:
    out = np.empty(bits.size, np.float16)
    float16.to_float16(bits.view(np.float32), out)
    return out.tobytes()


@pytest.mark.parametrize("lower", [0, 1, 0x0FFF, 0x1000, 0x1001, 0x8000, 0xFFFF])
def test_same_bits_as_numpy_at_all_upper_halves(lower: int) -> None:
    assert "onnxruntime" in sys.modules
    bits = (np.arange(1 << 16, dtype=np.uint32) << 16) | np.uint32(lower)
    # A signaling NaN, which no arithmetic makes, becomes quiet.
    bits[np.isnan(bits.view(np.float32))] |= np.uint32(1 << 22)
    with np.errstate(all="ignore"):
        assert halves(bits) == bits.view(np.float32).astype(np.float16).tobytes()


def test_the_model_is_one_cast() -> None:
    made = onnx.ModelProto.FromString(float16._CAST)
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT16)
    ends = [helper.make_tensor_value_info(n, t, ["n"]) for n, t in (("x", TensorProto.FLOAT), ("y", TensorProto.FLOAT16))]
    graph = helper.make_graph([node], "", ends[:1], ends[1:])
    assert made == helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def test_onnx_runtime_is_loaded_only_for_much_work() -> None:
    script = """
import sys
import numpy as np
from qdqtool.kernels import float16
x, out = np.ones(1 << 16, np.float32), np.empty(1 << 16, np.float16)
float16.to_float16(x, out)
assert "onnxruntime" not in sys.modules
float16._ENOUGH = 2 << 16
float16.to_float16(x, out)
assert "onnxruntime" in sys.modules
assert (out == 1).all()
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
