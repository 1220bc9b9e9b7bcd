"""Real models of other people's tools, folded and checked: one fold for each here, all of them with ``-m full``."""

from __future__ import annotations

import zlib

import pytest

from tests.fold_corpus import FOLDS, fault, folded
from tests.node_cases import ABSENT
from tests.test_corpus import LARGE, NAMES

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)

SMALL = [name for name in NAMES if not any(part in name for part in LARGE)]


@pytest.mark.parametrize("name", [name for name in SMALL if zlib.crc32(name.encode()) % 3 == 0])
def test_a_model_folds(name: str) -> None:
    fold = tuple(FOLDS)[zlib.crc32(name.encode()) // 3 % len(FOLDS)]
    assert fault(name, fold, folded(name, FOLDS[fold])) == ""


@pytest.mark.full
@pytest.mark.parametrize("fold", FOLDS)
def test_every_model_folds(fold: str) -> None:
    assert {name: wrong for name in NAMES if (wrong := fault(name, fold, folded(name, FOLDS[fold])))} == {}
