"""Pixels and places: Resize, Upsample, pooling, RoiAlign, DFT, DepthToSpace, Gather*, Scatter*, Gemm, Optional*."""

from __future__ import annotations

import numpy as np
import pytest

from ..adapting import Case, case
from ..sources import data, ints
from ..verbs import becomes, each, refused, same

X = data(2, 3, 4, 5)
IMAGE = data(1, 2, 6, 6)
ROIS = np.array([[0, 0, 4, 4], [1, 2, 8, 6]], np.float32)
NONE = np.zeros(0, np.float32)
WINDOW = {"kernel_shape": [3, 2], "strides": [2, 3]}
PADS = ([0, 0, 0, 0], [1, 0, 1, 1])
CEILED = [(data(1, 2, height, 9), pads) for height in (6, 7, 8) for pads in PADS]
CUBIC = {"mode": "cubic", "constant": [3]}
SYMMETRIC = {"coordinate_transformation_mode": "half_pixel_symmetric"}
SMALLER = np.array([1, 1, 0.5, 0.5], np.float32)
ASYMMETRIC = {"coordinate_transformation_mode": "asymmetric"}
ROIALIGN = {"output_height": 2, "output_width": 2, "constant": [1]}


def places(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 2, shape)


def scales(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


EXPANDED = ((data(3, 1), ints(2, 1, 4)), (X, ints(3, 1, 1)), (np.float32(2), ints(3, 2)), (X[:1] > 0, ints(0, 3, 4, 5)))
BYTES = np.arange(600).astype(np.uint8)
LEFT, RIGHT = BYTES.reshape(2, 300), BYTES[::-1].copy().reshape(300, 2)
PRODUCTS = ((LEFT, RIGHT.view(np.int8)), (LEFT, RIGHT, np.uint8(7), np.uint8(250)), (LEFT, RIGHT, BYTES[:1], BYTES[:2]))

MOVES = [
    *((case("Upsample", 7, IMAGE, scales=[1.0, 1.0, 1.5, 2.0], mode=m), [9, 10, 11, 13, 19]) for m in ("nearest", "linear")),
    *(
        (case("Resize", 10, IMAGE, scales(1, 1, *s), mode=m, constant=[1]), [11, 13, 18])
        for m in ("nearest", "linear")
        for s in ((1.5, 2), (0.6, 0.4), (1.7, 0.4))
    ),
    *(
        (case("Resize", 11, IMAGE, NONE, scales(1, 1, *s), mode="nearest", nearest_mode=n, constant=[1, 2], **ASYMMETRIC), [10])
        for n, s in (("floor", (1.5, 2)), ("ceil", (0.5, 0.7)), ("round_prefer_floor", (2, 2)))
    ),
    (case("Resize", 13, IMAGE, None, scales(1, 1, 1.5, 2), mode="linear", constant=[2], **ASYMMETRIC), [11, 10]),
    (case("Resize", 13, IMAGE, None, None, ints(1, 2, 9, 12), mode="linear", constant=[3], **ASYMMETRIC), [11, 10, 9]),
    (case("Resize", 18, IMAGE, None, scales(1.5, 2), mode="linear", axes=[2, 3], constant=[2]), [17, 13, 11]),
    *(
        (
            case("Resize", 18, IMAGE, None, None, ints(9, 12), mode="cubic", axes=[3, 2], keep_aspect_ratio_policy=p, constant=[3]),
            [17, 13, 11],
        )
        for p in ("stretch", "not_larger", "not_smaller")
    ),
    (
        case(
            "Resize",
            19,
            IMAGE,
            None,
            scales(1, 1, 1.5, 2),
            mode="linear",
            coordinate_transformation_mode="half_pixel_symmetric",
            constant=[2],
        ),
        [18, 11],
    ),
    *((case("MaxPool", 10, x, pads=p, ceil_mode=1, **WINDOW), [8, 7]) for x, p in CEILED),
    *((case("MaxPool", 10, x, pads=p, ceil_mode=1, outputs=2, **WINDOW), [8]) for x, p in CEILED),
    *((case("AveragePool", 10, x, pads=p, ceil_mode=1, **WINDOW), [8, 7]) for x, p in CEILED),
    *((case("LpPool", 18, x, ceil_mode=1, **WINDOW), [17, 11]) for x, p in CEILED),
    *(
        (case("AveragePool", 19, IMAGE, kernel_shape=[2, 2], dilations=[2, 2], pads=[p] * 4, count_include_pad=c), [18, 7])
        for p in (0, 1)
        for c in (0, 1)
    ),
    *((case("RoiAlign", 16, data(1, 2, 9, 9), ROIS, ints(0, 0), mode=m, **ROIALIGN), [10, 15]) for m in ("avg", "max")),
    *((case("DFT", 17, data(1, 4, 5, 1), axis=a), [20]) for a in (1, 2)),
    (case("DFT", 17, data(1, 4, 5, 1)), [20]),
    (case("DFT", 20, data(1, 4, 5, 1), None, np.int64(1), constant=[2]), [17, 19]),
    (case("DepthToSpace", 11, data(2, 8, 3, 5), blocksize=2, mode="CRD"), [10, 7]),
    (case("SpaceToDepth", 28, data(1, 2, 4, 4), blocksize=2, mode="CRD"), [27, 13, 7]),
    (case("GatherND", 12, data(2, 3, 4), places(2, 1, 2), batch_dims=1), [11, 10, 9]),
    (case("GatherND", 12, data(2, 3, 4), places(2, 3, 1, 1), batch_dims=2), [11, 10, 9]),
    (case("GatherND", 12, data(2, 3, 4), -places(5, 2)), [11, 10, 9]),
    (case("GatherElements", 11, data(2, 3, 4), -places(2, 2, 4), axis=1), [10, 9]),
    (case("GatherElements", 11, data(2, 3, 4), places(2, 2, 4).astype(np.int32), axis=-1), [10, 9]),
    (case("Scatter", 9, data(2, 3), places(2, 3) * 0, data(2, 3), axis=1), [11, 16]),
    (case("ScatterElements", 18, data(2, 3), places(2, 3) * 0, data(2, 3), axis=1, reduction="none"), [11, 10, 9]),
    (case("Gemm", 11, data(2, 3), data(3, 4)), [9, 7]),
    *((case("Expand", 8, x, shape, constant=[1]), [7]) for x, shape in EXPANDED),
    *((case("MatMulInteger", 10, *operands), [9, 7]) for operands in PRODUCTS),
    (case("OptionalHasElement", 18, X), [15, 9]),
    (case("OptionalGetElement", 18, X), [15, 9]),
]

BECOMES = [
    (case("Upsample", 9, IMAGE, scales(1, 1, 2, 2), mode="linear", constant=[1]), 13, "Resize"),
    (case("Resize", 10, IMAGE, scales(1, 1, 1.7, 0.4), constant=[1]), 13, "Resize Resize"),
    (case("AveragePool", 19, IMAGE, kernel_shape=[2, 2], dilations=[2, 2]), 18, "Conv Conv Div"),
    (case("Gemm", 11, data(2, 3), data(3, 4)), 9, "Gemm"),
    (case("GatherND", 12, data(2, 3, 4), places(5, 2)), 9, "Add Div Mul Sub Mul ReduceSum Reshape Gather"),
]

REFUSED = [
    (case("MaxPool", 10, IMAGE, kernel_shape=[2, 2], dilations=[2, 2]), 9, "MaxPool has dilations from opset 10 on"),
    (case("Resize", 13, IMAGE, None, scales(1, 1, 2, 2), mode="cubic", constant=[2]), 10, "has no form below opset 11"),
    (
        case("Resize", 18, IMAGE, None, scales(1, 1, 0.5, 0.5), mode="linear", antialias=1, constant=[2]),
        17,
        "Resize with antialias=1 needs opset 18",
    ),
    (case("ScatterND", 18, data(3, 3), ints(1)[None], data(1, 3), reduction="max"), 16, "ScatterND knows no reduction=max at opset 16"),
    (case("DFT", 20, data(1, 4, 5, 1), None, np.int64(1)), 19, "DFT takes its axis as an attribute up to opset 19"),
    (case("RoiAlign", 16, data(1, 2, 9, 9), ROIS, ints(0, 0), output_height=2, output_width=2), 15, "RoiAlign widens regions"),
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
