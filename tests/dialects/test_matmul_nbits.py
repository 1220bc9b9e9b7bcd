"""MatMulNBits: every layout against ONNX Runtime's kernel and a scalar formula, and back to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qdqtool
from tests.dialects.layouts import Array, Layout, drawn, model, operand, operators, run, weights

TABLE = (
    *(Layout(bits, block, block * 2, 8) for bits in (2, 4, 8) for block in (16, 32, 64, 128, 256)),
    *(Layout(bits, 32, k, 5, zero) for bits in (2, 4, 8) for k in (40, 96, 33) for zero in ("none", "packed")),
    *(Layout(bits, 16, 72, 7, "packed", half=True) for bits in (2, 4, 8)),
    *(Layout(bits, 16, 64, 6, "float", half=half) for bits in (2, 4) for half in (False, True)),
    Layout(zero="float", k=50),
    Layout(bits=8, half=True, bias=True),
    Layout(bias=True, zero="packed", flat=True),
    Layout(flat=True, k=100),
    Layout(uses=2, zero="packed"),
    Layout(k=20, block=64),
    Layout(groups="ordered"),
    Layout(groups="mixed"),
    Layout(groups="uneven"),
    Layout(groups="mixed", k=100, bias=True),
    Layout(groups="mixed", zero="float", half=True),
    Layout(n=1, zero="packed"),
)
AFFINE = tuple(layout for layout in TABLE if layout.zero != "float" and not layout.groups)


@pytest.mark.parametrize("layout", TABLE, ids=str)
def test_it_becomes_the_same_weights_in_a_matmul(layout: Layout) -> None:
    numbers = drawn(layout)
    original = model(layout, numbers)
    result = qdqtool.convert(original, to="ai.onnx")
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    assert set(operators(result.model)) <= {"DequantizeLinear", "MatMul", "Add", "Gather", "Sub", "Mul", "Cast"}
    identity = {"A": np.eye(layout.k, dtype=layout.real)}
    for name, got in run(result.model, identity).items():
        bias = 0 if numbers.bias is None else numbers.bias
        assert np.array_equal(got, weights(layout, numbers) + bias)
        if not (layout.half and layout.bias):  # the kernel adds a bias before it rounds
            assert close(got, run(original, identity)[name], layout)


def close(got: Array, expected: Array, layout: Layout) -> bool:
    """Equal; up to a rounding where the kernel takes products apart, as it does for all groups."""
    if layout.groups in ("", "uneven"):
        return np.array_equal(got, expected)
    return bool(np.allclose(got, expected, rtol=0, atol=2.0**-21 * np.abs(expected).max()))


@pytest.mark.parametrize("layout", AFFINE, ids=str)
def test_there_and_back_gives_the_same_codes_scales_and_zero_points(layout: Layout) -> None:
    numbers = drawn(layout)
    original = model(layout, numbers)
    there = qdqtool.convert(original, to="ai.onnx", check=False)
    back = qdqtool.convert(there.model, to="matmulnbits")
    assert back.check is not None
    assert back.check.verdict in ("equal", "within bound")
    assert operators(back.model) == operators(original)
    for number in range(layout.uses):
        for slot in (1, 2, 3, 5):
            old, new = (operand(m, "MatMulNBits", slot, number) for m in (original, back.model))
            assert (old is None) == (new is None)
            if old is not None and new is not None:
                assert np.array_equal(_own(old, layout, slot), _own(new, layout, slot)), slot
    assert len(back.model.graph.initializer) == len(original.graph.initializer)
    nodes = zip(original.graph.node, back.model.graph.node, strict=True)
    assert all((a.name, a.output, sorted(a.attribute, key=str)) == (b.name, b.output, sorted(b.attribute, key=str)) for a, b in nodes)


def _own(array: np.ndarray, layout: Layout, slot: int) -> np.ndarray:
    """Elements, without the codes that fill up the last block of weights."""
    if slot != 1:
        return array.reshape(-1)
    per_byte = 8 // layout.bits
    rows = array.reshape(layout.n, -1)
    codes = np.stack([rows >> (layout.bits * i) & ((1 << layout.bits) - 1) for i in range(per_byte)], -1)
    return codes.reshape(layout.n, -1)[:, : layout.k]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from((2, 4, 8)),
    st.sampled_from((16, 32, 64)),
    st.integers(1, 140),
    st.integers(1, 12),
    st.sampled_from(("none", "packed")),
    st.booleans(),
    st.integers(0, 1 << 30),
)
def test_any_shape_and_values(bits: int, block: int, k: int, n: int, zero: str, half: bool, seed: int) -> None:
    layout = Layout(bits, block, k, n, zero, half)
    numbers = drawn(layout, seed)
    result = qdqtool.convert(model(layout, numbers), to="ai.onnx", check=False).model
    assert np.array_equal(run(result, {"A": np.eye(k, dtype=layout.real)})["y0"], weights(layout, numbers))
    again = qdqtool.convert(result, to="matmulnbits", check=False).model
    assert np.array_equal(run(again, {"A": np.eye(k, dtype=layout.real)})["y0"], weights(layout, numbers))
