"""Real models: no error where ONNX Runtime runs them, an error at the node that it refuses; a sample here, all with ``-m full``."""

from __future__ import annotations

import zlib

import pytest

from tests.node_cases import ABSENT, CORPUS
from tests.rules.corpus import BROKEN, SOUND, verdict
from tests.rules.running import findings_of
from tests.test_corpus import NAMES

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)

SAMPLE = [name for name in NAMES if name in BROKEN or zlib.crc32(name.encode()) % 5 == 0]


def test_every_model_is_known() -> None:
    assert set(BROKEN) == set(NAMES) - SOUND


@pytest.mark.parametrize("name", SAMPLE)
def test_a_model_gets_errors_where_it_fails(name: str) -> None:
    assert verdict(name, findings_of(CORPUS / name)) == ""


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in NAMES if name not in SAMPLE])
def test_the_others_too(name: str) -> None:
    assert verdict(name, findings_of(CORPUS / name)) == ""
