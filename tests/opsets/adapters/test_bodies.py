"""Operators that an older opset lacks, by the function body of their schema."""

from __future__ import annotations

import numpy as np
import pytest

from ..adapting import Case, case
from ..sources import data, ints
from ..verbs import becomes, each, refused, same

X = data(2, 3, 4, 5)
HALF = X.astype(np.float16)
ROTARY = (data(2, 3, 4, 8), data(10, 4), data(10, 4), np.arange(8).reshape(2, 4))
HEADS = (data(2, 6, 4, 8), data(2, 3, 6, 8), data(2, 3, 6, 8))

LAYERS = ((-1, (5,)), (1, (3, 4, 5)), (2, (4, 5)))

MOVES = [
    *(
        (case("LayerNormalization", 17, X, data(*shape), data(*shape), axis=axis, outputs=outputs), [16, 13, 11, 9, 7])
        for axis, shape in LAYERS
        for outputs in (1, 3)
    ),
    (case("LayerNormalization", 17, HALF, HALF[0, 0, 0], HALF[0, 0, 1]), [16, 13, 7]),
    (case("RMSNormalization", 23, X, data(5)), [22, 18, 17, 13, 11, 7]),
    (case("RMSNormalization", 23, X, data(4, 5), axis=2), [22, 7]),
    *((case("Gelu", 20, x, approximate=a), [19, 13, 9]) for x in (X, HALF) for a in ("none", "tanh")),
    *((case("Gelu", 20, x, approximate="tanh"), [7]) for x in (X, HALF)),
    *((case(op, 22, X), [21, 13, 7]) for op in ("Mish", "HardSwish")),
    (case("HardSwish", 14, X), [22, 13, 7]),
    (case("Swish", 24, X, alpha=1.5), [23, 13, 7]),
    (case("Celu", 12, X), [11, 7]),
    (case("MeanVarianceNormalization", 13, X), [9, 8, 7]),
    (case("ThresholdedRelu", 10, X), [9]),
    (case("CenterCropPad", 18, X, ints(3, 6), axes=[2, 3], constant=[1]), [17, 13, 11]),
    (case("CenterCropPad", 18, X, ints(1, 4, 3, 7), constant=[1]), [17, 13, 11, 10, 9]),
    *((case("AffineGrid", 20, data(n, 2, 3), ints(n, 2, 4, 5), constant=[1]), [19, 13, 11]) for n in (1, 2)),
    (case("HannWindow", 17, np.int64(8)), [16, 13, 10]),
    (case("BlackmanWindow", 17, np.int64(8), constant=[0]), [16, 13, 7]),
    *((case(op, 13, data(3, 5), ints(1, 0, 4)), [12, 11]) for op in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")),
    (case("RotaryEmbedding", 23, *ROTARY), [22, 17, 13, 11, 7]),
    (case("RotaryEmbedding", 23, *ROTARY, interleaved=1), [22, 17, 13, 10]),
    (case("Attention", 23, *HEADS), [22, 17, 13, 11, 9]),
    (case("Attention", 23, *HEADS, is_causal=1), [22, 17, 13, 11, 9]),
    (case("Attention", 24, *HEADS, data(4, 6) > 0), [23, 17, 9]),
    (case("Attention", 25, *HEADS, data(4, 6)), [24, 17, 9]),
]

BECOMES = [
    (case("HardSwish", 14, X), 13, "HardSigmoid Mul"),
    (case("Mish", 18, X), 17, "Softplus Tanh Mul"),
    (case("RMSNormalization", 23, X, data(5)), 17, "Mul ReduceMean Add Sqrt Div Mul"),
]

REFUSED = [
    (case("Gelu", 20, X), 8, "opset 8 has no operator Erf (from opset 9)"),
    (case("Attention", 23, *HEADS), 8, "has no operator Where (from opset 9)"),
]


@each(MOVES)
def test_computes_the_same(case: Case, target: int) -> None:
    same(case, target)


@pytest.mark.parametrize(("case", "target", "operators"), BECOMES, ids=str)
def test_becomes(case: Case, target: int, operators: str) -> None:
    assert " ".join(becomes(case, target)) == operators


@pytest.mark.parametrize(("case", "target", "words"), REFUSED, ids=str)
def test_is_refused(case: Case, target: int, words: str) -> None:
    assert words in refused(case, target)
