"""Faults planted in the reading of integer operators, which the closing check finds by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import qdqtool
from qdqtool import integers
from qdqtool.dialects import qdq
from qdqtool.dialects.qoperator import fusing, plain, splitting
from qdqtool.errors import CheckFailed
from qdqtool.expressions import Op, Step
from tests.dialects.qoperators import CONVOLUTIONS, MATRICES, POOLS, Case, drawn
from tests.dialects.test_integer_products import chain

Fault = Callable[[Any], Any]

CONV = next(case for case in CONVOLUTIONS if case.types == "uiu" and case.vector and case.bias)
SCALED = next(case for case in MATRICES if case.attributes.get("alpha") == 0.5)
LAST = next(case for case in POOLS if case.attributes.get("channels_last"))
ADD = Case("QLinearAdd", "uuu", ((3, 40), (3, 40)))


def _without_zero(step: Step) -> Step:
    return replace(step, zero_point=None)


def _doubled(found: Op) -> Op:
    return replace(found, inputs=(found.inputs[0], found.inputs[0], *found.inputs[2:]))


TO_STEPS: dict[str, tuple[Case, Any, str, Fault]] = {
    "a bias without the scale of the input": (CONV, splitting, "_of_sums", lambda _: lambda op, steps: steps[1].scale),
    "a bias without alpha": (SCALED, splitting, "_of_sums", lambda old: lambda op, steps: old(replace(op, attributes=()), steps)),
    "a result without its zero point": (ADD, splitting, "quantized", lambda old: lambda *a: _without_zero(old(*a))),
    "an operand without its zero point": (ADD, splitting, "dequantized", lambda old: lambda *a: _without_zero(old(*a))),
    "one operand twice": (ADD, plain, "_same", lambda old: lambda *a: [_doubled(op) for op in old(*a)]),
    "channels that stay last": (LAST, plain, "turned", lambda old: lambda x, rank, last: x),
}


@pytest.mark.parametrize(("case", "module", "name", "fault"), TO_STEPS.values(), ids=TO_STEPS)
def test_faults_on_the_way_to_steps(
    case: Case, module: Any, name: str, fault: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    with pytest.raises(CheckFailed):
        qdqtool.convert(drawn(case).model, to="ai.onnx")


OF_STEPS: dict[str, tuple[Case, str, Fault]] = {
    "a bias with any scale": (CONV, "_equal", lambda _: lambda *a: True),
    "a zero point of another": (ADD, "_parts", lambda old: lambda step: (*old(step)[:2], old(replace(step, zero_point=None))[2])),
}


@pytest.mark.parametrize(("case", "name", "fault"), OF_STEPS.values(), ids=OF_STEPS)
def test_faults_on_the_way_back(case: Case, name: str, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = qdqtool.convert(drawn(case).model, to="ai.onnx").model
    node = next((n for n in steps.graph.node if n.input[0] == "bias"), None)
    if node is not None:
        node.input[1] = "b_scale"
    monkeypatch.setattr(fusing, name, fault(getattr(fusing, name)))
    with pytest.raises(CheckFailed):
        qdqtool.convert(steps, to="qoperator")


def test_a_fault_in_the_products_of_dynamic_quantization(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdq, "dequantized", lambda *a: _without_zero(integers.dequantized(*a)))
    with pytest.raises(CheckFailed):
        qdqtool.convert(chain()[0], to="qdq")
