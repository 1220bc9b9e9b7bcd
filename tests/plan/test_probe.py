from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest

import qdqtool
from qdqtool import dtypes
from qdqtool.check import Probe
from qdqtool.exactness import Exactness
from qdqtool.expressions import Runtime, Step, Stored
from qdqtool.kernels.sources import ArraySource, materialize
from qdqtool.plan import probe
from qdqtool.plan.facts import Facts
from qdqtool.plan.probe import cut, probes
from qdqtool.quantization import Blocked, Granularity, Meaning, PerAxis, PerTensor
from tests.lowerings.given import dequantize
from tests.plan.graphs import INT4, TENTH, model, planned

LIMIT = 600
GRANULARITIES: list[tuple[Granularity, tuple[int, ...]]] = [
    (PerTensor(), ()),
    (PerTensor(), (1,)),
    (PerAxis(0), (40,)),
    (PerAxis(1), (50,)),
    (Blocked(0, 8), (5, 50)),
    (Blocked(1, 16), (40, 4)),
    (Blocked(1, 64), (40, 1)),
    (Blocked(1, 1), (40, 50)),
]


def stored(name: str, dtype: dtypes.ElementType, shape: tuple[int, ...]) -> Stored:
    return Stored((), name, dtype, shape)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "LIMIT", LIMIT)


def step(where: Granularity, parameters: tuple[int, ...]) -> Step:
    x, scale, zero = stored("x", dtypes.INT8, (40, 50)), stored("s", dtypes.FLOAT, parameters), stored("z", dtypes.INT8, parameters)
    return Step(Meaning("dequantize", dtypes.INT8, dtypes.FLOAT, dtypes.FLOAT, where), x, scale, zero, dtypes.FLOAT, (40, 50))


@pytest.mark.parametrize(("where", "parameters"), GRANULARITIES, ids=[str(w) + str(p) for w, p in GRANULARITIES])
def test_a_cut_step_is_a_part_of_the_whole(where: Granularity, parameters: tuple[int, ...]) -> None:
    """Every element that is kept keeps its own scale and zero point: numbering them shows which ones they are."""
    codes = np.arange(2000, dtype=np.int16).reshape(40, 50)
    numbers = np.arange(prod(parameters), dtype=np.int16).reshape(parameters)
    arrays: dict[str, Any] = {"x": codes, "s": numbers, "z": numbers}
    whole = step(where, parameters)
    small, coverage = cut(whole)
    facts = Facts(lambda s: ArraySource(np.asarray(arrays[s.name])))
    got_x, got_s, got_z = (materialize(facts.source(e)) for e in (small.x, small.scale, small.zero_point))  # type: ignore[arg-type]
    assert small.shape == small.x.shape == got_x.shape
    assert got_x.size <= LIMIT + 50 * 8
    assert coverage == f"{got_x.size} of 2000 elements: {list(got_x.shape)} of [40, 50]"
    assert (
        _by_element(got_s, got_x.shape, where).tolist()
        == _by_element(numbers, (40, 50), where).reshape(-1)[got_x.reshape(-1)].reshape(got_x.shape).tolist()
    )
    assert got_s.tolist() == got_z.tolist()
    assert got_x.reshape(-1)[0] == 0
    assert got_x.reshape(-1)[-1] == 1999, "the ragged end is kept"


def _by_element(parameter: Any, shape: tuple[int, ...], where: Granularity) -> Any:
    match where:
        case PerAxis(axis):
            return np.broadcast_to(parameter.reshape([-1 if d == axis else 1 for d in range(2)]), shape)
        case Blocked(axis, block):
            return np.repeat(parameter, block, axis).take(np.arange(shape[axis]), axis=axis)
    return np.broadcast_to(parameter.reshape(()), shape)


def test_small_constants_are_not_cut() -> None:
    small = replace(step(PerTensor(), ()), x=stored("x", dtypes.INT8, (20, 30)), shape=(20, 30))
    assert cut(small) == (small, "")


def test_run_time_values_are_not_cut() -> None:
    live = replace(step(PerTensor(), ()), x=Runtime("x", dtypes.INT8, (40, 50)))
    assert cut(live) == (live, "")


def test_nothing_is_cut_along_run_time_scales() -> None:
    live = replace(step(PerAxis(0), (40,)), scale=Runtime("s", dtypes.FLOAT, (40,)))
    small, _ = cut(live)
    assert small == live


def probes_of(text: str, source: int, target: int, **constants: Any) -> list[Probe]:
    return list(probes(planned(model(text, source, **constants), target)))


def test_a_probe_holds_the_original_node_and_its_replacement() -> None:
    text = "g (float[2] x) => (y) { y = DequantizeLinear <axis: int = 1, block_size: int = 4> (w, s) }"
    (found,) = probes_of(text, 21, 13, w=INT4, s=np.float32([[1, 2], [3, 4]]))
    assert found.place == "main / n0"
    assert found.exactness is Exactness.BIT_EQUAL
    assert [n.op_type for n in found.before.nodes] == ["DequantizeLinear"]
    assert [n.op_type for n in found.after.nodes] == ["DequantizeLinear", "Reshape"]
    assert (found.before.imports[""], found.after.imports[""]) == (21, 13)
    assert (found.before.inputs, found.after.inputs) == ((), ())
    assert materialize(next(iter(found.before.constants.values()))).tolist() == INT4.tolist()


def test_both_sides_take_the_same_values_in_their_own_types() -> None:
    text = "g (float[2,8] x) => (float[2,8] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }"
    pair = probes_of(text, 21, 13, s=TENTH, z=np.zeros((), dtypes.INT4.numpy))
    assert [[str(p.dtype) for p in (*f.before.inputs, *f.before.outputs)] for f in pair] == [["float32", "int4"], ["int4", "float32"]]
    assert [[str(p.dtype) for p in (*f.after.inputs, *f.after.outputs)] for f in pair] == [["float32", "int8"], ["int8", "float32"]]


def test_names_in_the_model_are_told_for_the_main_graph_only() -> None:
    text = "g (float[2,8] x) => (float[2,8] y) { a = Abs(x) q = QuantizeLinear(a, s, z) y = DequantizeLinear(q, s, z) }"
    first, second = probes_of(text, 21, 13, s=TENTH, z=np.zeros((), dtypes.INT4.numpy))
    assert (first.inputs_in_model, first.output_in_model) == (("a",), "q")
    assert (second.inputs_in_model, second.output_in_model) == (("q",), "y")


def test_a_large_weight_is_probed_in_part_with_the_same_lowerings() -> None:
    given = dequantize(dtypes.INT4, (64, 48), Blocked(1, 16))
    text = "g (float[2] x) => (y) { y = DequantizeLinear <axis: int = 1, block_size: int = 16> (x0, s) }"
    (found,) = probes_of(text, 21, 13, x0=given.codes, s=given.scale)
    assert found.coverage == "576 of 3072 elements: [12, 48] of [64, 48]"
    assert [n.op_type for n in found.after.nodes] == ["DequantizeLinear", "Reshape"]


MEAN = "g (float[2,3,4] x, int64[1] axes) => (float[N,M,L] y) { y = ReduceMean(x, axes) }"


def test_an_input_with_an_initializer_has_that_as_its_default() -> None:
    (made,) = probes(planned(model(MEAN, axes=np.array([1])), 13))
    _, axes = made.before.inputs
    assert axes.default is not None
    assert materialize(axes.default).tolist() == [1]
    (without,) = probes(planned(model(MEAN), 13))
    assert [port.default for port in without.before.inputs] == [None, None]


def test_axes_that_may_be_overridden_are_checked() -> None:
    report = qdqtool.convert(model(MEAN, axes=np.array([1])), opset=13, require_check=True).check
    assert report is not None
    assert [step.verdict for step in report.steps] == ["equal"]
