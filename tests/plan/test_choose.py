from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.exactness import Bound, Exactness
from qdqtool.expressions import Op, Runtime, Step, Stored, literal, walk
from qdqtool.kernels.sources import ArraySource
from qdqtool.lowerings import Said
from qdqtool.plan import legalize
from qdqtool.plan.choices import Choice, Rejection
from qdqtool.plan.choose import Chooser
from qdqtool.plan.facts import Facts
from qdqtool.plan.forms import abstract, fill
from qdqtool.plan.legalize import Site
from qdqtool.plan.target import Target
from qdqtool.quantization import Blocked, Meaning, PerAxis, PerTensor
from tests.lowerings.given import dequantize, quantize
from tests.lowerings.verbs import chosen, outline

F32, I4, I8 = dtypes.FLOAT, dtypes.INT4, dtypes.INT8


def step(number: int, shape: tuple[int, ...] = (4, 16)) -> Step:
    meaning = Meaning("dequantize", I4, F32, F32, Blocked(1, 8))
    x, scale = Stored((), f"x{number}", I4, shape), Stored((), f"s{number}", F32, (shape[0], -(-shape[1] // 8)))
    return Step(meaning, x, scale, None, F32, shape)


class Scales:
    """Scales that are all equal for even numbers; counts what is opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def __call__(self, stored: Stored) -> ArraySource:
        self.opened.append(stored.name)
        equal = int(stored.name[1:]) % 2 == 0
        values = np.full(stored.shape, 0.5, np.float32) if equal else np.arange(1, np.prod(stored.shape) + 1, dtype=np.float32)
        return ArraySource(values.reshape(stored.shape))


def chooser(opset: int = 13, **options: Any) -> Chooser:
    return Chooser(Site(Target(opset, **options), {"": opset}, False), Facts(Scales()))


def test_the_form_cache_changes_nothing() -> None:
    shapes = [(4, 16), (4, 20), (3, 8)]
    steps = [step(n, shapes[n % 3]) for n in range(12)]
    shared = chooser()
    assert [shared.choose(s) for s in steps] == [chooser().choose(s) for s in steps]


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0), (1, 3, 2, 0)])
def test_facts_are_part_of_the_form(numbers: tuple[int, ...]) -> None:
    shared = chooser()
    for n in numbers:
        found = shared.choose(step(n))
        assert isinstance(found, Choice)
        assert found.names == (("collapse", "widen") if n % 2 == 0 else ("rows-per-block", "widen"))
        assert {leaf.name for leaf in walk(found.expr) if isinstance(leaf, Stored)} == {f"x{n}", f"s{n}"}


def test_a_form_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: list[Step] = []
    original = legalize.Run._step
    monkeypatch.setattr(legalize.Run, "_step", lambda self, step: decided.append(step) or original(self, step))
    shared = chooser()
    shared.choose(step(1))
    once = len(decided)
    shared.choose(step(3))
    shared.choose(step(5))
    assert len(decided) == once > 0


def test_rejections_are_remembered_too() -> None:
    shared = chooser(7)
    odd = replace(step(1), x=Runtime("x", I4, None), shape=None)
    first, again = shared.choose(odd), shared.choose(replace(odd, x=Runtime("other", I4, None)))
    assert isinstance(first, Rejection)
    assert first == again


def test_slots_are_leaves_and_equal_leaves_share_one() -> None:
    same = Stored((), "p", F32, (2,))
    form, slots = abstract(Step(Meaning("dequantize", I8, F32, F32, PerTensor()), same, same, literal(1, I8), F32, (2,)))
    assert form.x == form.scale
    assert form.zero_point == literal(1, I8)
    assert list(slots.values()) == [same]
    assert fill(form, slots) == Step(form.meaning, same, same, literal(1, I8), F32, (2,))


def test_slots_of_one_kind_stay_apart() -> None:
    found = chosen(dequantize(dtypes.INT16, (4,), PerAxis(0), zero=True), 13, prefer="nodes")
    assert isinstance(found, Choice)
    assert outline(found.expr) == "DequantizeLinear(subtract[(0, 1)](x, z), s)"


@pytest.mark.parametrize(
    ("given", "opset", "expected"),
    [
        (quantize(I8, (4, 8), scales=[0.5]), 13, "QuantizeLinear(x, s, 0)"),
        (quantize(I8, (4, 8), PerAxis(0), scales=[0.5]), 13, "QuantizeLinear(x, s, [0, 0, 0, 0])"),
        (quantize(dtypes.UINT8, (4, 8), scales=[0.5]), 13, "QuantizeLinear(x, s)"),
        (quantize(dtypes.FLOAT8E5M2, (4, 8), scales=[0.5]), 19, "QuantizeLinear(x, s, 0)"),
        (quantize(dtypes.FLOAT4E2M1, (4, 8), scales=[0.5]), 23, "QuantizeLinear(x, s)"),
        (dequantize(I8, (4, 8)), 13, "DequantizeLinear(x, s)"),
    ],
)
def test_a_zero_point_is_written_where_it_tells_the_type(given: Any, opset: int, expected: str) -> None:
    found = chosen(given, opset)
    assert isinstance(found, Choice)
    assert outline(found.expr) == expected


def _rounding(exactness: Exactness) -> Any:
    class Lowering:
        NAME = "roughly"

        @staticmethod
        def say(step: Step, context: Any) -> Iterator[Said]:
            yield Said(Op("Cast", (step.x,), (("to", 1),), F32, step.shape), exactness, Bound(ulps=2))

    return Lowering


@pytest.mark.parametrize(
    ("exactness", "options", "accepted"),
    [
        (Exactness.VALUE_EQUAL, {"exact": True}, True),
        (Exactness.ROUNDING, {}, True),
        (Exactness.ROUNDING, {"exact": True}, False),
        (Exactness.APPROXIMATE, {}, False),
        (Exactness.APPROXIMATE, {"approximate": True}, True),
    ],
)
def test_how_far_a_form_may_go(exactness: Exactness, options: dict[str, bool], accepted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legalize, "all_lowerings", lambda: (_rounding(exactness),))
    found = chooser(13, **options).choose(replace(step(1), x=Runtime("x", I8, (4, 16))))
    if accepted:
        assert isinstance(found, Choice)
        assert (found.exactness, found.bound, found.names) == (exactness, Bound(ulps=2), ("roughly",))
    else:
        assert isinstance(found, Rejection)
        assert f"only an {exactness} form exists (roughly)" in found.reasons


def test_a_rejection_names_the_first_obstacle_and_the_nearest_one() -> None:
    found = chosen(dequantize(I8, (4, 8), expressed=dtypes.BFLOAT16, scale=dtypes.BFLOAT16), 12)
    assert isinstance(found, Rejection)
    assert found.reasons[0] == "ai.onnx DequantizeLinear-10 has no output type bfloat16 (from 19 on)"
    assert any("bfloat16" in reason and "Cast" in reason for reason in found.reasons)


def test_bounds_add_and_classes_do_not() -> None:
    assert Bound(ulps=1, steps=1) + Bound(ulps=0.5) == Bound(ulps=1.5, steps=1)
    assert max(Exactness.VALUE_EQUAL, Exactness.BIT_EQUAL) is Exactness.VALUE_EQUAL


def test_in_a_function_new_constants_must_be_legal_in_constant_nodes() -> None:
    given = dequantize(dtypes.FLOAT8E4M3FN, (4, 8), codes=[1.0, -2.0], scale=dtypes.FLOAT8E8M0)
    facts = Facts(lambda stored: ArraySource(given.arrays[stored.name]))
    inside = Chooser(Site(Target(13), {"": 13}, True), facts).choose(given.step)
    assert isinstance(inside, Choice)
    assert all(
        c.dtype in (F32, dtypes.INT32, dtypes.UINT8, I8, dtypes.INT64) for c in walk(inside.expr) if isinstance(c, type(literal(1, I8)))
    )
