"""Which dequantize nodes feed the layers, and what their codes can stand for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from qdqtool import dtypes as t
from qdqtool.linting.layers import axes
from qdqtool.linting.ranges import bounds, of_step
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.model.load import Loaded
from tests.rules.case import changed, codes, constant, model, operands, scales
from tests.rules.patterns.cases_layers import CONV, GEMM, MATMUL, TRANSPOSED


def subject(proto: ModelProto) -> Subject:
    return Subject(Loaded(proto, None, Path()))


def flipped(text: str, *shape: int) -> ModelProto:
    """A product whose weight is its first factor."""
    return model(f"g (float[8,3] x) => (float[4,3] y) {{ w = DequantizeLinear(c, s) y = {text} }}", c=codes(t.INT8, *shape), s=0.5)


@pytest.mark.parametrize(
    ("proto", "expected"),
    [
        (CONV, (0, 1)),
        (TRANSPOSED, (1, 0)),
        (MATMUL, (1, 0)),
        (GEMM, (0, 1)),
        (flipped("MatMul(w, x)", 4, 8), (0, 1)),
        (flipped("Gemm(w, x)", 4, 8), (0, 1)),
        (
            model(
                "g (float[8,3] x) => (float[4,3] y) { w = DequantizeLinear(c, s) y = Gemm <transA = 1> (w, x) }",
                c=codes(t.INT8, 8, 4),
                s=0.5,
            ),
            (1, 0),
        ),
    ],
)
def test_output_channels_and_the_axis_that_is_summed_over(proto: ModelProto, expected: tuple[int, int]) -> None:
    found = subject(proto)
    (layer,) = found.layers
    step = found.steps[layer.weight.step].step if layer.weight.step is not None else None
    assert step is not None
    assert axes(found, layer, len(step.x.shape or ())) == expected


def test_a_dequantize_is_found_behind_what_moves_its_values() -> None:
    text = "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear(c, s) v = Transpose(w) u = Reshape(v, n) y = MatMul(x, u) }"
    found = subject(model(text, 21, c=codes(t.INT8, 6, 4), s=0.5, n=np.array([4, 6])))
    weight = found.layers[0].weight
    assert (weight.step, weight.between, weight.direct) == (Place((), 0), (Place((), 2), Place((), 1)), False)


def test_weights_are_looked_at_along_their_channels() -> None:
    found = subject(CONV).weights
    assert [(w.role, w.axis, w.codes.lows.size) for w in found] == [("weight", 0, 8), ("bias", 0, 8)]
    (per_tensor,) = subject(changed(MATMUL, constant(ws=0.01))).weights
    assert (per_tensor.role, per_tensor.axis) == ("weight", 1)


@pytest.mark.parametrize(
    ("scale", "point", "expected"),
    [(0.5, np.uint8(128), (-64, 63.5)), (-0.5, np.uint8(0), (-127.5, 0)), (0.25, np.int8(-128), (0, 63.75)), (0.0, np.int8(0), None)],
)
def test_what_codes_stand_for(scale: float, point: np.generic, expected: tuple[float, float] | None) -> None:
    proto = model("g (float[4] x) => (float[4] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 21, s=scale, z=point)
    assert of_step(subject(proto), Place((), 0)) == expected


def test_several_scales_have_no_common_range() -> None:
    proto = model("g (float[4] x) => (uint8[4] y) { y = QuantizeLinear <axis = 0> (x, s) }", 21, s=scales(4))
    assert of_step(subject(proto), Place((), 0)) is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [(("x", "low", "high"), (-1, 6)), (("x", "", "high"), (-np.inf, 6)), (("x",), (-np.inf, np.inf)), (("x", "limit"), None)],
)
def test_bounds_of_a_clip(names: tuple[str, ...], expected: tuple[float, float] | None) -> None:
    proto = model("g (float[4] x, float limit) => (float[4] y) { y = Clip(x, low, high) }", 21, low=-1.0, high=6.0)
    assert bounds(subject(changed(proto, operands("y", *names))), Place((), 0)) == expected


def test_bounds_of_an_old_clip_are_attributes() -> None:
    proto = model("g (float[4] x) => (float[4] y) { y = Clip <max = 6.0> (x) }", 10)
    assert bounds(subject(proto), Place((), 0)) == (-np.inf, 6)
