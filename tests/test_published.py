"""Published node tests moved to every other opset give their expected output, in ONNX Runtime or our evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import qdqtool
from qdqtool import dtypes
from qdqtool.check.evaluator import Evaluator
from qdqtool.exactness import Exactness
from qdqtool.plan.refuse import BORDER
from tests.formats import bits_of, same_bits
from tests.node_cases import ABSENT, Case, load, names

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)

TARGETS = (7, 10, 11, 13, 17, 19, 21, 23, 24, 25, 27, 28)
CASES = [name for name in names("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear") if "expanded" not in name]


def _agrees(case: Case, conversion: qdqtool.Conversion) -> bool:
    results = Evaluator(conversion.model).run(case.inputs, tuple(case.outputs))
    exact = all(c.exactness is Exactness.BIT_EQUAL for c in conversion.changes)
    return all(_same(np.asarray(results[name]), expected, exact) for name, expected in case.outputs.items())


def _same(actual: Any, expected: Any, exact: bool) -> bool:
    if exact:
        return same_bits(actual, bits_of(expected), dtypes.of_numpy(expected.dtype))
    return bool(np.array_equal(actual.astype(np.float64), expected.astype(np.float64), equal_nan=True))


def _moved(case: Case, target: int) -> qdqtool.Conversion | set[str]:
    """The conversion, or the codes of the refusal."""
    try:
        return qdqtool.convert(case.model, opset=target, check=False)
    except qdqtool.Refused as refused:
        return {reason.code for reason in refused.reasons}


@pytest.mark.parametrize("name", CASES)
def test_moved_to_every_opset(name: str) -> None:
    case = load(name)
    moved = [(target, _moved(case, target)) for target in TARGETS]
    assert all(found == {BORDER} for _, found in moved if isinstance(found, set))
    conversions = [(target, found) for target, found in moved if not isinstance(found, set)]
    assert conversions
    for target, conversion in conversions:
        onnx.checker.check_model(conversion.model, full_check=True)
        assert _agrees(case, conversion), target
