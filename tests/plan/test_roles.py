"""What a step is for, as the graph shows it."""

from __future__ import annotations

import pytest

from qdqtool import dtypes as t
from qdqtool.linting.subject import Subject
from qdqtool.model.load import load
from qdqtool.plan import roles
from qdqtool.targets.demands import Part
from tests.rules.case import codes, model, scales

NONE = frozenset[str]()
CASES = {
    "v = DequantizeLinear(w, s) y = MatMul(x, v)": Part("weight", "", NONE),
    "r = Transpose(w) v = DequantizeLinear(r, s) y = MatMul(x, v)": Part("weight", "", NONE),
    "c = Cast<to = 3>(x) v = DequantizeLinear(c, s) y = Relu(v)": Part("activation", "", NONE),
    "v = DequantizeLinear(w, s) y = Gemm(x, x, v)": Part("weight", "Gemm", NONE),
    "v = DequantizeLinear(w, s) a = Gemm(x, x, v) y = Add(a, v)": Part("weight", "", NONE),
    "v = DequantizeLinear(w, s) i = Cast<to = 7>(x) y = Gather(v, i)": Part("weight", "", frozenset({"Gather"})),
    "v = DequantizeLinear(w, s) y = test.own.Gemm(x, x, v)": Part("weight", "", NONE),
}


@pytest.mark.parametrize("text", CASES)
def test_what_a_step_is_for(text: str) -> None:
    made = model(f"g (float[4, 4] x) => (y) {{ {text} }}", 21, imports={"test.own": 1}, w=codes(t.INT8, 4, 4), s=scales(1)[0])
    subject = Subject(load(made, trusting=True))
    assert [roles.part(subject.view, subject.constants, lifted) for lifted in subject.steps.values()] == [CASES[text]]
