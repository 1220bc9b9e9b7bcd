"""How constants differ, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdqtool.comparing.patterns import pattern

ROWS = np.arange(64, dtype=np.float32).reshape(8, 8) + 1
CODES = np.arange(-32, 32).astype(np.int8).reshape(8, 8)


def swapped(values: Any, first: int, second: int) -> Any:
    order = list(range(len(values)))
    order[first], order[second] = second, first
    return values[order]


TABLE = {
    "equal": (ROWS, ROWS.copy(), ""),
    "NaN equals NaN": (np.array([np.nan, 1]), np.array([np.nan, 1]), ""),
    "type": (np.uint8(3), np.int8(3), "type uint8 became int8"),
    "scalar": (np.float32(0.5), np.float32(1), "it is 2 x as large (0.5 became 1)"),
    "one-element": (np.array([0.5], np.float32), np.float32(1), "it is 2 x as large (0.5 became 1)"),
    "factor": (ROWS, ROWS * 3, "all 64 are 3 x as large (1 became 3 at [0, 0])"),
    "some": (ROWS, np.where(ROWS > 62, ROWS * 2, ROWS), "2 of 64 are 2 x as large (63 became 126 at [7, 6])"),
    "one": (ROWS, np.where(ROWS == 5, 0, ROWS), "1 of 64 is different, by up to 5 (5 became 0 at [0, 4])"),
    "reciprocal": (ROWS + 1, 1 / (ROWS + 1), "all 64 are reciprocal (2 became 0.5 at [0, 0])"),
    "shift": (CODES, CODES + np.int8(9), "all 64 are shifted by +9 (-32 became -23 at [0, 0])"),
    "recentred": (np.uint8(128), np.int8(0), "it is shifted by -128 (128 became 0), type uint8 became int8"),
    "steps": (
        CODES,
        np.where(CODES % 3 == 0, CODES + 1, CODES),
        "21 of 64 are one step off, as by another rounding (-30 became -29 at [0, 2])",
    ),
    "not finite": (ROWS, np.where(ROWS == 5, np.nan, ROWS), "1 of 64 is different, some of them not finite (5 became nan at [0, 4])"),
    "transposed": (ROWS, ROWS.T, "transposed"),
    "transposed shape": (ROWS[:4], ROWS[:4].T, "transposed: shape [4, 8] became [8, 4]"),
    "shape": (ROWS, ROWS[:4], "shape [8, 8] became [4, 8]"),
    "rows": (ROWS, swapped(ROWS, 2, 5), "indices 2 and 5 along axis 0 are swapped"),
    "columns": (ROWS, swapped(ROWS.T, 1, 7).T, "indices 1 and 7 along axis 1 are swapped"),
    "turned round": (ROWS, ROWS[::-1], "all indices along axis 0 are in another order"),
    "blocks": (ROWS.ravel(), swapped(ROWS, 0, 3).ravel(), "blocks 0 and 3 along axis 0 (blocks of 8) are swapped"),
    "neighbours": (ROWS.ravel(), ROWS.reshape(-1, 2)[:, ::-1].ravel(), "indices 0 and 1 in every block of 2 along axis 0 are swapped"),
    "text": (np.array(["a"], object), np.array(["b"], object), "different"),
}


@pytest.mark.parametrize("name", TABLE)
def test_words(name: str) -> None:
    old, new, words = TABLE[name]
    assert pattern(np.asarray(old), np.asarray(new)) == words
