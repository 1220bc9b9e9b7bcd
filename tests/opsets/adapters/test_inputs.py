"""Axes, sizes and shapes that became inputs: Squeeze, Unsqueeze, Reduce*, Reshape, Split, Slice, Pad, TopK, Shape."""

from __future__ import annotations

import numpy as np
import pytest

from ..adapting import Case, case
from ..sources import data, ints
from ..verbs import becomes, dynamic, each, refused, same

X = data(2, 3, 4, 5)
POSITIVE = np.abs(X)
OTHERS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Min", "Mean", "Prod", "SumSquare")
INTEGERS = np.arange(1, 25, dtype=np.int32).reshape(2, 3, 4)
WHOLE = np.rint(X)

MOVES = [
    (case("Squeeze", 11, data(1, 2, 1), axes=[0, -1]), [13, 21, 9]),
    (case("Squeeze", 13, data(1, 2, 1), ints(0, -1), constant=[1]), [11, 9, 7, 24]),
    (case("Unsqueeze", 11, data(2), axes=[0, -1]), [13, 23]),
    (case("Unsqueeze", 13, data(2), ints(0, -1), constant=[1]), [11, 9, 7]),
    (case("ReduceMean", 18, X, ints(1, -1), constant=[1], keepdims=0), [13, 11, 9, 7]),
    (case("ReduceMean", 11, X, axes=[1, -1], keepdims=0), [13, 18, 28]),
    *((case(f"Reduce{kind}", 18, POSITIVE, ints(1, -1)), [17, 13]) for kind in ("Mean", "L1", "L2", "LogSum", "SumSquare")),
    *((case(f"Reduce{kind}", 18, POSITIVE, noop_with_empty_axes=1), [17, 7]) for kind in OTHERS),
    (case("ReduceSum", 13, X, noop_with_empty_axes=1), [11, 7]),
    (case("ReduceSum", 13, X, ints(), constant=[1]), [11]),
    (case("ReduceMax", 20, X > 0, ints(1), constant=[1]), [18, 13, 12]),
    *((case(f"ReduceLogSum{end}", 18, INTEGERS), [28]) for end in ("", "Exp")),
    (case("Reshape", 14, X, ints(6, -1), constant=[1], allowzero=1), [13, 7]),
    (case("Reshape", 14, X, ints(6, -1), allowzero=1), [13, 7]),
    (case("Reshape", 14, data(0, 3), ints(3, 0), constant=[1], allowzero=1), [13, 7]),
    (case("Reshape", 14, data(0, 3), ints(3, 0), allowzero=1), [13, 9]),
    (case("Split", 11, data(6, 2), outputs=2, split=[2, 4]), [13, 18]),
    (case("Split", 18, data(7, 2), outputs=3, num_outputs=3), [17, 13, 11, 7]),
    (case("Split", 13, data(2, 7), ints(2, 5), outputs=2, constant=[1], axis=-1), [11, 7]),
    (case("Slice", 9, X, starts=[1, -2], ends=[3, 100], axes=[1, 3]), [10, 13]),
    (case("Slice", 9, X, starts=[1], ends=[3]), [10, 13]),
    (case("Slice", 13, X, ints(1, -2), ints(3, 100), ints(1, -1), ints(1, 1), constant=[1, 2, 3, 4]), [9, 7]),
    (case("Slice", 13, X, ints(-1, 4), ints(-100, 0), ints(1, -1), ints(-1, -2), constant=[1, 2, 3, 4]), [9, 7]),
    (case("Slice", 13, X, ints(-1, 4), ints(-(2**63), -1000), ints(1, -1), ints(-2, -2), constant=[1, 2, 3, 4]), [9, 7]),
    (case("Pad", 10, X, pads=[0, 0, 1, 1, 0, 0, 0, 2], value=1.5), [11, 13, 21]),
    (case("Pad", 13, X, ints(0, 0, 1, 1, 0, 0, 0, 2), np.float32(1.5), constant=[1, 2]), [10, 7]),
    (case("Pad", 13, X, ints(0, 0, 1, 1, 0, 0, 0, 2), mode="reflect", constant=[1]), [10, 7]),
    (case("Pad", 13, X.astype(np.int32), ints(0, 0, 1, 1, 0, 0, 0, 2), np.int32(3), constant=[1, 2]), [11, 10, 7]),
    (case("Pad", 13, X > 0, ints(0, 0, 1, 1, 0, 0, 0, 2), constant=[1]), [11, 10]),
    (case("Pad", 18, X, ints(1, 2, 0, 1), np.float32(1.5), ints(1, -1), constant=[1, 2, 3]), [17, 13, 11, 10]),
    (case("Pad", 18, X, ints(1, 2, 0, 1), np.float32(1.5), ints(1, -1), constant=[3]), [17, 13, 11]),
    (case("Pad", 19, X, ints(1, 2, 3, 1), None, ints(1, -1), mode="wrap", constant=[1, 3]), [18, 13, 7]),
    (case("TopK", 9, X, k=2, outputs=2), [10, 11, 24]),
    (case("TopK", 11, X, ints(2), outputs=2, constant=[1]), [10, 9, 7]),
    (case("TopK", 11, WHOLE, ints(2), outputs=2, largest=0, constant=[1]), [10, 9, 7]),
    (case("TopK", 11, WHOLE.astype(np.int32), ints(2), outputs=2, largest=0, constant=[1]), [10, 9, 7]),
    (case("Shape", 15, X, start=1, end=-1), [13, 10, 9]),
    (case("Shape", 15, X, start=-2), [13, 9]),
    *(
        (case(op, 12, WHOLE, axis=a, keepdims=k, select_last_index=1), [11, 7])
        for op in ("ArgMax", "ArgMin")
        for a in (1, -1)
        for k in (0, 1)
    ),
]

BECOMES = [
    (case("Squeeze", 13, data(1, 2), ints(0), constant=[1]), 9, "Squeeze"),
    (case("ReduceL2", 18, X, ints(1)), 13, "Mul ReduceSum Sqrt"),
    (case("ReduceL1", 18, X, noop_with_empty_axes=1), 13, "Abs"),
    (case("Reshape", 14, X, ints(6, -1), allowzero=1), 13, "Reshape"),
    (dynamic(case("Reshape", 14, data(0, 3), ints(3, 0), allowzero=1)), 13, "Size Equal If"),
    (case("Split", 18, data(7, 2), outputs=3, num_outputs=3), 11, "Split"),
    (dynamic(case("Shape", 15, X, start=1)), 13, "Shape Slice"),
    (case("Pad", 13, X > 0, ints(0, 0, 1, 1, 0, 0, 0, 2), constant=[1]), 10, "Cast Pad Cast"),
    (case("TopK", 11, X, ints(2), outputs=2, largest=0), 10, "Neg TopK Neg"),
]

REFUSED = [
    (
        case("Squeeze", 13, data(1, 2), ints(0)),
        11,
        "Squeeze takes axes as an attribute up to opset 12, and here",
    ),
    (case("ReduceMax", 18, X, ints(1)), 13, "ReduceMax takes axes as an attribute up to opset 17"),
    (case("ReduceMean", 18, X, ints(1)), 11, "ReduceMean takes axes as an attribute"),
    (case("Split", 13, data(2, 7), ints(2, 5), outputs=2, axis=-1), 11, "Split takes sizes as an attribute up to opset 12"),
    (case("Pad", 13, X, ints(0, 0, 1, 1, 0, 0, 0, 2)), 10, "Pad takes pads as an attribute up to opset 10"),
    (case("Slice", 13, X, ints(1), ints(2)), 9, "x1, x2 is computed at run time"),
    (case("TopK", 11, X.astype(np.int64), ints(2), outputs=2), 10, "TopK of int64 needs opset 11"),
    (case("TopK", 10, X, ints(2), outputs=2), 9, "TopK takes k as an attribute up to opset 9"),
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
