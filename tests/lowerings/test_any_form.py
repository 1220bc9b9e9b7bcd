"""Whatever is chosen, for any form and any target, keeps its promise against the oracle."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.lowerings import Said
from qdqtool.plan.choices import Choice
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor
from tests.kernels.samples import FLOAT_STORAGE, INTEGER_STORAGE
from tests.lowerings.given import Given, dequantize, quantize, unshaped
from tests.lowerings.verbs import assert_keeps, chosen

F32, F16, BF16, E8 = dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.FLOAT8E8M0
TARGETS = (7, 8, 9, 10, 11, 12, 13, 17, 19, 21, 22, 23, 24, 25, 27)
GENTLE = (0.5, 0.1, 3.0, -0.25, 1.0, 0.0078125, 0.7)
WILD = (1e-40, 3e38, -3e-39, 0.1, 2.0**-130, 300.0, 1.0)

DEQUANTIZED = ((F32, F32), (F16, F16), (BF16, BF16), (F32, F16), (F16, F32), (BF16, F32), (E8, F32))
"""Types of scale and output."""
QUANTIZED = ((F32, F32, F32), (F16, F16, F32), (F16, F16, F16), (BF16, BF16, BF16), (F32, F16, F16), (dtypes.INT32, F32, F32))
"""Types of input, scale and division."""


@st.composite
def places(draw: st.DrawFn) -> tuple[tuple[int, ...], Granularity]:
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 8, 12]), max_size=4)))
    assume(prod(shape) <= 700)
    kinds = ["tensor", *(["axis"] if shape else []), *(["blocks"] if shape else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "tensor":
        return shape, PerTensor()
    axis = draw(st.integers(0, len(shape) - 1))
    return shape, PerAxis(axis) if kind == "axis" else Blocked(axis, draw(st.sampled_from([1, 2, 3, 4, 8, 20])))


@st.composite
def forms(draw: st.DrawFn) -> Given:
    shape, where = draw(places())
    storage = draw(st.sampled_from((*INTEGER_STORAGE, *FLOAT_STORAGE)))
    live = "".join(draw(st.sets(st.sampled_from("xsz"))))
    scales = draw(st.sampled_from([GENTLE, WILD, (0.25,)]))
    zero: bool | int = draw(st.booleans()) and storage.integer
    if draw(st.booleans()):
        scale, expressed = draw(st.sampled_from(DEQUANTIZED))
        made = dequantize(storage, shape, where, expressed=expressed, scale=scale, scales=scales, zero=zero, live=live)
    else:
        x, scale, compute = draw(st.sampled_from([(F32, F32, F32), (F16, F16, F32), (F16, F16, F16), (BF16, BF16, BF16), (F32, F16, F16)]))
        carrier = draw(st.sampled_from([None, F32]))
        made = quantize(
            storage, shape, where, x=x, scale=scale, scales=scales, compute=compute, zero=zero, live="x" + live, carrier=carrier
        )
    assume(_has_a_meaning(made))
    return unshaped(made, *draw(st.sets(st.sampled_from(live or "-"))), rank=draw(st.booleans()))


def _has_a_meaning(form: Given) -> bool:
    """Scales of 0 leave the result open; one block of a rank-1 tensor looks per-tensor to ONNX Runtime, which then refuses it."""
    scale = form.scale.astype(np.float64)
    one_block = isinstance(form.step.meaning.granularity, Blocked) and form.scale.shape == (1,)
    return bool((scale != 0).all() and np.isfinite(scale).all()) and not one_block


@given(forms(), st.sampled_from(TARGETS), st.sampled_from(["bytes", "nodes"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_the_chosen_form_keeps_its_promise(form: Given, target: int, prefer: str) -> None:
    choice = chosen(form, target, prefer=prefer)
    if isinstance(choice, Choice):
        assert_keeps(Said(choice.expr, choice.exactness, choice.bound), choice, form, form.expected(), target)
