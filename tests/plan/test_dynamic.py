from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from qdqtool.check import sessions
from tests.plan.graphs import converted, model

TEXT = "g (float[R,C] x) => (uint8[R,C] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }"
RNG = np.random.default_rng(3)
TENSORS: dict[str, Any] = {
    "both signs": RNG.normal(0, 3, (4, 50)),
    "positive": RNG.uniform(0.5, 9, (4, 50)),
    "negative": RNG.uniform(-9, -0.5, (4, 50)),
    "zeros": np.zeros((2, 3)),
    "zeros of both signs": np.array([[0.0, -0.0]]),
    "one element": np.array([[-3.5]]),
    "tiny": np.array([[1e-42, -3e-42, 0]]),
    "huge": np.array([[3e38, -3e38, 1]]),
    "ties": np.arange(-255, 256).reshape(1, -1) / 2.0,
    "range of 255": np.arange(-3, 253).reshape(1, -1) * 1.0,
    "half a step above zero": np.array([[-0.5, 254.5, 0.5, 1.5, 2.5]]),
}


def run(proto: ModelProto, x: Any) -> list[bytes]:
    with sessions.session(proto.SerializeToString(), sessions.Setting()) as opened:
        results = sessions.run(opened, {"x": x}, ["y", "s", "z"])
    return [np.asarray(results[name]).tobytes() for name in ("y", "s", "z")]


@pytest.mark.parametrize("target", [7, 8, 9, 10])
@pytest.mark.parametrize("values", TENSORS.values(), ids=TENSORS.keys())
def test_dynamic_quantization_is_onnx_runtime_s(values: Any, target: int) -> None:
    original = model(TEXT, 11, 6)
    result = converted(original, target).model
    x = values.astype(np.float32)
    assert run(result, x) == run(original, x)
