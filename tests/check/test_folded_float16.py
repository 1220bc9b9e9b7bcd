"""ONNX Runtime computes a float16 node in float32 when nothing but casts stands around it, so folding what feeds one moves results."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdqtool

WEIGHTS = np.random.default_rng(0).normal(0, 1, (8, 4, 3, 3)).astype(np.float16)


def convolution() -> ModelProto:
    """A float16 weight that is quantized when the model runs."""
    constants = {"w": WEIGHTS, "s": np.full(8, 0.0237, np.float16), "z": np.zeros(8, np.int8)}
    nodes = [
        helper.make_node("Cast", ["x"], ["xh"], to=TensorProto.FLOAT16),
        helper.make_node("QuantizeLinear", ["w", "s", "z"], ["q"], axis=0),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=0),
        helper.make_node("Conv", ["xh", "d"], ["c"]),
        helper.make_node("Cast", ["c"], ["y"], to=TensorProto.FLOAT),
    ]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in (("x", [1, 4, 8, 8]), ("y", [1, 8, 6, 6])))
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y], tensors), opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


@pytest.mark.parametrize("weights", [False, True])
def test_a_replay_with_the_folded_constant_as_input_clears_the_difference(weights: bool) -> None:
    report = qdqtool.fold(convolution(), weights=weights).check
    assert report is not None
    assert report.verdict == "equal"
    assert [c.verdict for c in report.replayed] == ["equal", "equal"]
