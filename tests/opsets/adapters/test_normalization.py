"""Normalizing, dropping and taking part: Softmax, BatchNormalization, GroupNormalization, Dropout, Scan, RNN."""

from __future__ import annotations

import numpy as np
import pytest

from ..adapting import Case, case
from ..sources import data
from ..verbs import becomes, each, refused, same

X = data(2, 3, 4, 5)
HALF = np.float16
PARAMETERS = (data(3), data(3, low=0), data(3), data(3, low=0.5))
EACH = [data(3, 4, 5, low=0.5)] * 4
SOFTMAX = ("Softmax", "LogSoftmax", "Hardmax")
LSTM = (data(2, 3, 4), data(1, 12, 4), data(1, 12, 3))

MOVES = [
    *((case(op, 11, X, axis=axis), [13, 21]) for op in SOFTMAX for axis in (0, 1, 2, 3, -1)),
    *((case(op, 13, X, axis=axis), [11, 7]) for op in SOFTMAX for axis in (0, 1, 2, 3, -1)),
    (case("Softmax", 11, X), [13]),
    (case("Softmax", 13, X), [11]),
    (case("BatchNormalization", 7, X, *EACH, spatial=0), [9, 14]),
    (case("BatchNormalization", 9, X, *PARAMETERS, outputs=["y", "mean", "var", "", ""], momentum=0.8), [14, 15]),
    (case("BatchNormalization", 15, X, *PARAMETERS, outputs=3, training_mode=1, momentum=0.8), [14, 13, 9, 7]),
    (case("BatchNormalization", 15, X.astype(HALF), *PARAMETERS), [14, 9]),
    (case("BatchNormalization", 15, X.astype(HALF), *(p.astype(HALF) for p in PARAMETERS[:2]), *PARAMETERS[2:]), [14, 9]),
    (case("GroupNormalization", 21, data(2, 4, 3), data(4), data(4), num_groups=2), [20, 18, 17, 13, 7]),
    (case("Dropout", 7, X, outputs=2), [10, 12, 13]),
    (case("Dropout", 10, X, outputs=2), [12, 13, 7]),
    (case("Dropout", 12, X, outputs=2), [10, 9]),
    (case("Dropout", 13, X, np.float32(0.3), np.bool_(False), constant=[2], seed=3), [10, 7]),
]

REPEAT = "Reshape Expand Reshape"
GROUPS = (data(2, 4, 3), data(2), data(2))

BECOMES = [
    (case("Softmax", 11, X), 13, "Flatten Softmax Reshape"),
    (case("Softmax", 13, X), 11, "Softmax"),
    (case("Softmax", 13, X, axis=1), 11, "Transpose Softmax Transpose"),
    (
        case("GroupNormalization", 18, data(2, 4, 3), data(2), data(2), num_groups=2),
        21,
        "Reshape Expand Reshape Reshape Expand Reshape GroupNormalization",
    ),
    (case("Dropout", 12, X, outputs=2), 10, "Dropout Less Not"),
    (case("LSTM", 14, *LSTM, outputs=1, layout=1, hidden_size=3), 13, "Transpose LSTM Transpose"),
]

REFUSED = [
    (case("Dropout", 13, X, np.float32(0.3), np.bool_(True), constant=[2]), 10, "Dropout in training"),
    (case("BatchNormalization", 9, X, *PARAMETERS, outputs=5), 14, "the statistics of the batch are no results"),
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
