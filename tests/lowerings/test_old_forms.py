"""Pieces of arithmetic in the spelling of old opsets, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from qdqtool import dtypes, phrases
from qdqtool.expressions import Op, Runtime, Shape, Step, literal
from qdqtool.quantization import Blocked, ByScale, Granularity, Meaning, PerAxis, PerTensor
from tests.lowerings.given import Given, quantize
from tests.lowerings.verbs import evaluate, outline

F32 = dtypes.FLOAT
X = Runtime("x", F32, (4, 6))
VALUES = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 1e5 + 0.5, -3.2, 4194302.5], np.float32)


def on(values: np.ndarray) -> Given:  # type: ignore[type-arg]
    given = quantize(dtypes.UINT8)
    step = Step(given.step.meaning, Runtime("x", F32, values.shape), literal(1.0, F32), None, F32, values.shape)
    return Given(step, values, np.float32(1), None)


@pytest.mark.parametrize("opset", [7, 10, 11, 13, 21])
def test_rounding_goes_to_even_in_every_spelling(opset: int) -> None:
    rounded = phrases.round_even(Runtime("x", F32, VALUES.shape), opset)
    assert isinstance(rounded, Op)
    assert rounded.op == ("Sub" if opset < 11 else "Round")
    assert evaluate(rounded, on(VALUES), opset).tolist() == np.rint(VALUES).tolist()


@pytest.mark.parametrize("opset", [7, 10, 11, 12, 13])
def test_clip_in_every_spelling(opset: int) -> None:
    clipped = phrases.clip(Runtime("x", F32, VALUES.shape), -1.0, 2.0, opset)
    assert [name for name, _ in clipped.attributes] == (["max", "min"] if opset < 11 else [])
    assert evaluate(clipped, on(VALUES), opset).tolist() == np.clip(VALUES, -1, 2).tolist()


@pytest.mark.parametrize("opset", [7, 9, 10, 13])
def test_cut_in_every_spelling(opset: int) -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    cut = phrases.cut(X, 4, opset)
    assert cut.shape == (4, 4)
    assert len(cut.inputs) == (1 if opset < 10 else 4)
    assert evaluate(cut, on(values), opset).tolist() == values[:, :4].tolist()


def step(where: Granularity, shape: Shape | None) -> Step:
    return Step(Meaning("quantize", dtypes.INT8, F32, F32, where, F32), Runtime("x", F32, shape), X, None, dtypes.INT8, shape)


def parameter(shape: Shape | None) -> Runtime:
    return Runtime("p", F32, shape)


@pytest.mark.parametrize(
    ("where", "shape", "scale", "expected"),
    [
        (PerTensor(), (4, 6), (), "p"),
        (PerTensor(), (4, 6), (1,), "Reshape(p, table[0])"),
        (PerTensor(), (), None, "Reshape(p, table[0])"),
        (PerTensor(), None, None, "None"),
        (PerTensor(), (4, 6), None, "p"),
        (PerAxis(1), (4, 6), (6,), "p"),
        (PerAxis(0), (4, 6), (4,), "Reshape(p, [4, 1])"),
        (PerAxis(0), (None, None), (None,), "Reshape(p, [-1, 1])"),
        (PerAxis(0), None, (4,), "None"),
        (PerAxis(-1), None, (4,), "None"),
        (ByScale(0), (4, 6), None, "None"),
        (Blocked(1, 3), (4, 6), (4, 2), "Reshape(p, [4, 2, 1, 1])"),
        (Blocked(1, 4), (4, 6), (4, 2), "Reshape(Gather(p, [0, 0, 1]), [4, 3, 1, 1])"),
        (Blocked(1, 3), (4, 0), (4, 0), "None"),
        (Blocked(1, 3), (None, 6), (4, 2), "None"),
    ],
)
def test_how_a_parameter_is_spread(where: Granularity, shape: Shape | None, scale: Shape | None, expected: str) -> None:
    spread = phrases.spread(parameter(scale), step(where, shape))
    text = "None" if spread is None else outline(spread)
    assert text.replace("[]", "table[0]") == expected


@pytest.mark.parametrize(
    ("shape", "where", "expected"),
    [
        ((4, 6), Blocked(1, 3), (4, 2, 3, 1)),
        ((4, 6), Blocked(0, 2), (1, 2, 2, 6)),
        ((4, 6), Blocked(1, 4), (4, 3, 2, 1)),
        ((4, 6), Blocked(1, 9), (4, 1, 6, 1)),
        ((2, 7, 3), Blocked(1, 4), (2, 7, 1, 3)),
        ((0, 6), Blocked(1, 3), None),
        ((None, 6), Blocked(1, 3), None),
        ((4, 6), PerTensor(), None),
    ],
)
def test_groups(shape: Shape, where: Granularity, expected: tuple[int, ...] | None) -> None:
    assert phrases.groups(step(where, shape)) == expected
