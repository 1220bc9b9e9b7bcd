"""The table of `tests.dialects.corpus`: nothing moves, and every conversion passes its check."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dialects.corpus import ROUTES, row
from tests.dialects.integer_models import Trip
from tests.node_cases import ABSENT

pytestmark = [pytest.mark.full, pytest.mark.skipif(bool(ABSENT), reason=ABSENT)]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.name[7:]} as {route.there}")
def test_there_and_back(route: Trip, tmp_path: Path) -> None:
    found = row(route, tmp_path)
    assert found.moved == 0
    assert set(found.verdicts) <= {"equal", "within bound"}
    assert not route.back or found.kinds[0] == found.kinds[-1]
    assert found.kinds[0] != found.kinds[1]
