"""Real models with integer operators there and back, and models of dequantized operands the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dialects.integer_models import CHAINS, OPERATORS, STEPS, Trip, trip
from tests.node_cases import ABSENT

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)

FAST = ("unet_l17_qop_u8s8.onnx", "bert_l17_dyn_s8.onnx", "micro_kws_m_qdq.onnx")
ALL = [
    pytest.param(route, marks=() if route.name.endswith(FAST) else pytest.mark.full, id=route.name)
    for route in (*OPERATORS, *CHAINS, *STEPS)
]
ROOM = 4096


@pytest.mark.parametrize("route", ALL)
def test_there_and_back(route: Trip, tmp_path: Path) -> None:
    found = trip(route, tmp_path)
    assert found.changed > 0
    assert found.moved == 0
    assert found.verdicts <= {"equal", "within bound"}
    assert all(size <= found.sizes[0] + ROOM + needed for size, needed in zip(found.sizes[1:], found.needed, strict=True))
