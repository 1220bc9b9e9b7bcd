"""FakeQuantize against its formula in exact fractions: as quantize and dequantize, as arithmetic, and back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, helper, numpy_helper

import qdqtool
from qdqtool.check.evaluator import Evaluator
from qdqtool.dialects.fake_quantize import splitting
from tests.dialects.layouts import Array, constants, operators, run

DOMAIN = "org.openvinotoolkit"
FORMULA = ("Max", "Min", "Sub", "Div", "Mul", "Round", "Div", "Mul", "Add")
PAIR, NARROW = ("QuantizeLinear", "DequantizeLinear"), ("QuantizeLinear", "Clip", "DequantizeLinear")
OPENVINO = "QDQTOOL_OPENVINO_PYTHON"
"""An interpreter that has OpenVINO."""


@dataclass(frozen=True)
class Case:
    """A node with one range for all elements or one for each index along axis 1; `out` is the output range."""

    levels: int
    low: Any
    high: Any
    out: tuple[Any, Any] | None = None
    real: Any = np.float32
    form: tuple[str, ...] = ()

    def ends(self) -> list[Array]:
        ends = [np.asarray(end, self.real) for end in (self.low, self.high, *(self.out or (self.low, self.high)))]
        return [end.reshape(1, -1, 1) if end.ndim == 1 else end for end in ends]


def per_channel(*values: float) -> tuple[float, ...]:
    return values


CASES = {
    "bytes from 0": Case(256, 0, 2.55, form=PAIR),
    "bytes around 0": Case(256, -1.28, 1.27, form=PAIR),
    "bytes with an odd zero": Case(256, -0.37, 2.18, form=PAIR),
    "255 levels": Case(255, -1.27, 1.27, form=NARROW),
    "101 levels": Case(101, -2, 8, form=NARROW),
    "16 levels": Case(16, 0, 1.5, form=PAIR),
    "15 levels": Case(15, -0.7, 0.7, form=NARROW),
    "65536 levels": Case(65536, -327.68, 327.67, form=PAIR),
    "1000 levels": Case(1000, -1, 8.99, form=("Max", "Min", *PAIR)),
    "channels": Case(255, (-1, -2, -3), (1, 2, 3), form=NARROW),
    "channels with zeros apart": Case(256, (0, -1.28, -0.4), (2.55, 1.27, 2.15), form=PAIR),
    "another output range": Case(256, -1.28, 1.27, (-2.56, 2.54), form=PAIR),
    "a zero between levels": Case(256, -0.503, 1.0, form=FORMULA),
    "a range without 0": Case(256, 1.0, 2.0, form=FORMULA),
    "a reversed output range": Case(256, -1.28, 1.27, (1.27, -1.28), form=FORMULA),
    "an output range without 0": Case(256, -1.28, 1.27, (3.0, 5.55), form=FORMULA),
    "channels of which one has no level at 0": Case(256, (0, -0.5031), (2.55, 1.27), form=FORMULA),
    "float16": Case(256, 0, 2.55, real=np.float16, form=("Cast", *PAIR, "Cast")),
}
PAIRED = {name: case for name, case in CASES.items() if case.form in (PAIR, NARROW) and case.real is np.float32 and case.out is None}


def model(case: Case, *, weights: Array | None = None, opset: int = 21) -> ModelProto:
    real = helper.np_dtype_to_tensor_dtype(np.dtype(case.real))
    shape = (2, len(case.low) if isinstance(case.low, tuple) else 3, 64)
    node = helper.make_node("FakeQuantize", ["x", "il", "ih", "ol", "oh"], ["y"], "fake", domain=DOMAIN, levels=case.levels)
    held = dict(zip(("il", "ih", "ol", "oh"), case.ends(), strict=True)) | ({} if weights is None else {"x": weights})
    inputs = [helper.make_tensor_value_info("x", real, shape)] if weights is None else []
    tensors = [numpy_helper.from_array(value, name) for name, value in held.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", real, None)], tensors)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def values(case: Case) -> Array:
    """From below the range to above it, many of them near ties."""
    low, high = (
        np.broadcast_to(end.astype(np.float64), (1, len(case.low) if isinstance(case.low, tuple) else 3, 1)) for end in case.ends()[:2]
    )
    rng = np.random.default_rng(case.levels)
    steps = rng.integers(-6, 2 * case.levels + 6, (2, low.shape[1], 64)) / 2 + rng.choice([0, 0, 0.1, -0.1, 0.3], (2, low.shape[1], 64))
    return (low + steps * (high - low) / (case.levels - 1)).astype(case.real)


def exact(x: float, ends: tuple[float, ...], levels: int) -> tuple[Fraction, bool]:
    """What the formula gives over the rationals, and whether it was near a tie."""
    low, high, least, most = map(Fraction, ends)
    level = (min(max(Fraction(x), low), high) - low) / (high - low) * (levels - 1)
    near = abs(level - int(level) - Fraction(1, 2)) < Fraction(levels, 1 << 20) + Fraction(1, 1 << 12)
    return Fraction(round(level), levels - 1) * (most - least) + least, near


def judge(case: Case, x: Array, got: Array) -> None:
    """One step apart near ties, else only by how floats are rounded."""
    spread = [np.broadcast_to(end, x.shape).reshape(-1).astype(np.float64) for end in case.ends()]
    rounding = 2.0**-9 if case.real is np.float16 else 2.0**-20
    for place, (value, found) in enumerate(zip(x.reshape(-1), got.reshape(-1).astype(np.float64), strict=True)):
        ends = tuple(float(end[place]) for end in spread)
        want, near = exact(float(value), ends, case.levels)
        allowed = max(map(abs, ends)) * rounding + (abs(ends[3] - ends[2]) / (case.levels - 1) * 1.01 if near else 0)
        assert abs(found - float(want)) <= allowed, (place, value, found, float(want), near)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_it_becomes_a_pair_of_steps_or_its_formula(case: Case) -> None:
    original, x = model(case), values(case)
    result = qdqtool.convert(original, to="ai.onnx")
    assert operators(result.model) == list(case.form)
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    judge(case, x, run(result.model, {"x": x})["y"])
    judge(case, x, np.asarray(Evaluator(original).run({"x": x}, ["y"])["y"]))


@pytest.mark.parametrize("opset", [8, 9, 10, 11, 13, 17])
@pytest.mark.parametrize("name", ["bytes from 0", "255 levels", "16 levels", "65536 levels", "channels", "a zero between levels"])
def test_older_opsets(name: str, opset: int) -> None:
    case = CASES[name]
    x, result = values(case), qdqtool.convert(model(case), to="ai.onnx", opset=opset, check=False).model
    judge(case, x, run(result, {"x": x})["y"])


@pytest.mark.parametrize("zero", [127, 128])
def test_ties_fall_alike_where_the_zero_point_is_even(zero: int) -> None:
    """It rounds after adding the zero point, so an odd one turns ties the other way, by one step."""
    step = 2.0**-5
    case = Case(256, -zero * step, (255 - zero) * step)
    ties = ((np.arange(-zero, 255 - zero, dtype=np.float32) + np.float32(0.5)) * np.float32(step))[None, None, :192].reshape(1, 3, 64)
    x = np.concatenate([ties, ties])
    before = np.asarray(Evaluator(model(case)).run({"x": x}, ["y"])["y"])
    after = run(qdqtool.convert(model(case), to="ai.onnx", check=False).model, {"x": x})["y"]
    moved = np.abs(after - before) / step
    assert set(moved.reshape(-1)) == ({1.0} if zero % 2 else {0.0})


@pytest.mark.parametrize("name", PAIRED)
def test_there_and_back(name: str) -> None:
    case = PAIRED[name]
    original = model(case)
    result = qdqtool.convert(qdqtool.convert(original, to="ai.onnx", check=False).model, to="fakequantize")
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    (node,) = result.model.graph.node
    assert [(a.name, a.i) for a in node.attribute] == [("levels", case.levels)]
    ends = [constants(result.model)[name] for name in node.input[1:]]
    assert all(np.allclose(new, old, rtol=2.0**-22, atol=2.0**-24) for new, old in zip(ends, case.ends(), strict=True))


def pair(storage: Any, scale: Array, zero: Array, clip: tuple[int, int] | None = None, second: Sequence[Array] = ()) -> ModelProto:
    """A quantize and a dequantize of a value [2, 3, 64]; `second` are the parameters of the dequantize where they differ."""
    held = dict(zip(("s", "z", "s2", "z2"), (scale, zero, *(second or (scale, zero))), strict=True))
    axis = {"axis": 1} if scale.ndim else {}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "first", **axis)]
    if clip is not None:
        held |= {"low": np.asarray(clip[0], storage), "high": np.asarray(clip[1], storage)}
        nodes.append(helper.make_node("Clip", ["q", "low", "high"], ["c"]))
    nodes.append(helper.make_node("DequantizeLinear", [nodes[-1].output[0], "s2", "z2"], ["y"], "second", **axis))
    inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (2, 3, 64))]
    outputs = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (2, 3, 64))]
    tensors = [numpy_helper.from_array(value, name) for name, value in held.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([np.int8, np.uint8, np.int16, np.uint16]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 1 << 30),
)
def test_codes_scales_and_zero_points_come_back_bit_for_bit(storage: Any, axis: bool, narrow: bool, seed: int) -> None:
    rng, info = np.random.default_rng(seed), np.iinfo(storage)
    count = (3,) if axis else ()
    narrow = narrow and storage is np.int8
    low, high = (info.min + 1, info.max) if narrow else (info.min, info.max)
    scale = np.asarray(np.exp(rng.uniform(-9, 4, count)), np.float32)
    zero = np.asarray(rng.integers(low, high, count, endpoint=True), storage)
    original = pair(storage, scale, zero, (low, high) if narrow else None)
    there = qdqtool.convert(original, to="fakequantize", check=False).model
    assert operators(there) == ["FakeQuantize"]
    back = qdqtool.convert(there, to="ai.onnx", check=False).model
    assert operators(back) == operators(original)
    for old, new in zip(original.graph.node, back.graph.node, strict=True):
        for before, after in zip(old.input[1:], new.input[1:], strict=True):
            a, b = constants(original)[before], constants(back)[after]
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


TENTH, THREE = np.asarray(np.float32(0.1)), np.asarray(np.uint8(3))
DIFFERENT = "its quantize and dequantize have different parameters"


@pytest.mark.parametrize(
    ("original", "why"),
    [
        (pair(np.uint8, TENTH, THREE, second=(np.asarray(np.float32(0.2)), THREE)), DIFFERENT),
        (pair(np.uint8, TENTH, THREE, second=(TENTH, np.asarray(np.uint8(4)))), DIFFERENT),
        (pair(np.uint8, -TENTH, THREE), "its scales are not positive"),
    ],
)
def test_pairs_that_stay(original: ModelProto, why: str) -> None:
    result = qdqtool.convert(original, to="fakequantize", check=False)
    assert list(result.notes) == [f"1 pattern stays, not fused as fakequantize: {why}"]
    assert operators(result.model) == list(PAIR)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case(1, -1, 1), "it has 1 levels, not 2 to 65536"),
        (Case(256, 1, 1), "an input range is empty, reversed or not finite"),
        (Case(256, 2, 1), "an input range is empty, reversed or not finite"),
        (Case(256, -np.inf, 1), "an input range is empty, reversed or not finite"),
    ],
)
def test_what_has_no_meaning_is_refused(case: Case, reason: str) -> None:
    with pytest.raises(qdqtool.Refused) as refused:
        qdqtool.convert(model(case), to="ai.onnx")
    assert reason in refused.value.reasons[0].reasons


@pytest.mark.parametrize(
    ("inputs", "attributes", "reason"),
    [
        (["x", "il", "ih", "ol"], {"levels": 256}, "it has 4 operands, not 5"),
        (["x", "il", "ih", "ol", "oh"], {}, "it does not say how many levels it has"),
        (["x", "il", "ih", "ol", "wide"], {"levels": 256}, "the shapes of its ranges do not fit together"),
        ([], {"levels": 256}, "the type of its result is not known here"),
    ],
)
def test_what_is_no_fake_quantize_is_refused(inputs: list[str], attributes: dict[str, int], reason: str) -> None:
    original = model(CASES["channels"])
    original.graph.initializer.append(numpy_helper.from_array(np.ones((1, 2, 1), np.float32), "wide"))
    original.graph.node[0].CopyFrom(helper.make_node("FakeQuantize", inputs, ["y"], "fake", domain=DOMAIN, **attributes))
    with pytest.raises(qdqtool.Refused) as refused:
        qdqtool.convert(original, to="ai.onnx")
    assert refused.value.reasons[0].reasons == (reason,)


def test_ranges_of_the_run_are_refused() -> None:
    original = model(CASES["bytes from 0"])
    original.graph.input.append(helper.make_tensor_value_info("ih", onnx.TensorProto.FLOAT, ()))
    with pytest.raises(qdqtool.Refused) as refused:
        qdqtool.convert(original, to="ai.onnx")
    assert refused.value.reasons[0].reasons == ("its input high is not constant here",)


def test_nothing_about_it_is_exact() -> None:
    with pytest.raises(qdqtool.Refused):
        qdqtool.convert(model(CASES["bytes from 0"]), to="ai.onnx", exact=True)
    stays = qdqtool.convert(pair(np.uint8, TENTH, THREE), to="fakequantize", exact=True, check=False).model
    assert operators(stays) == list(PAIR)


@pytest.mark.parametrize("change", [lambda s: s * 1.02, lambda s: s + s.mean()], ids=["wider", "doubled"])
def test_the_check_finds_a_wrong_scale(monkeypatch: pytest.MonkeyPatch, change: Callable[[Array], Array]) -> None:
    right = splitting.scale_of
    monkeypatch.setattr(splitting, "scale_of", lambda *given: change(right(*given)))
    monkeypatch.setattr(splitting, "zero_point", lambda low, scale, levels: np.rint(-low / scale))
    with pytest.raises(qdqtool.CheckFailed):
        qdqtool.convert(model(CASES["bytes around 0"]), to="ai.onnx")


@pytest.mark.parametrize(("target", "form"), [("ort", PAIR), ("ort@1.17", PAIR), ("openvino", ("FakeQuantize",))])
def test_runtimes_that_lack_it_get_steps(target: str, form: Sequence[str]) -> None:
    result = qdqtool.convert(model(CASES["bytes from 0"]), target=target)
    assert operators(result.model) == list(form)
    assert not [note for note in result.notes if note.startswith("caution")]


def test_weights_become_codes() -> None:
    """A pair of steps on a constant, whose quantize is folded; no Clip where no weight is beyond the range."""
    case = CASES["channels"]
    weights = np.clip(values(case), *case.ends()[:2])
    steps = qdqtool.convert(model(case, weights=weights), to="ai.onnx", check=False).model
    folded = qdqtool.fold(steps, check=False).model
    assert operators(folded) == ["DequantizeLinear"]
    judge(case, weights, run(folded, {})["y"])
    beyond = qdqtool.convert(model(case, weights=values(case)), to="ai.onnx", check=False).model
    assert operators(beyond) == list(NARROW)


def test_in_functions_and_subgraphs() -> None:
    body = """<ir_version: 10, opset_import: ["": 21, "org.openvinotoolkit": 1, "f": 1]> g (float[2, 3] x, bool c) => (float[2, 3] y) {
        a = f.Fake(x)
        y = If(c) <then_branch = t () => (float[2, 3] p) { l = Constant<value=float {0.0}>() h = Constant<value=float {2.55}>()
            p = org.openvinotoolkit.FakeQuantize<levels=256>(a, l, h, l, h) }, else_branch = e () => (float[2, 3] q) { q = Identity(a) }>
    } <domain: "f", opset_import: ["": 21, "org.openvinotoolkit": 1]> Fake (x) => (y) { l = Constant<value=float {-1.28}>()
        h = Constant<value=float {1.27}>() y = org.openvinotoolkit.FakeQuantize<levels=256>(x, l, h, l, h) }"""
    result = qdqtool.convert(onnx.parser.parse_model(body), to="ai.onnx")
    assert result.check is not None
    assert result.check.verdict == "within bound"
    branch = result.model.graph.node[1].attribute[0].g
    assert [node.op_type for node in branch.node] == list(PAIR)
    assert [node.op_type for node in result.model.functions[0].node] == ["Constant", "Constant", *PAIR]
    assert DOMAIN not in {i.domain for holder in (result.model, result.model.functions[0]) for i in holder.opset_import}


def test_inspect_tells_levels_and_axis() -> None:
    rows = [qdqtool.inspect(model(CASES[name])).quantized[0].form for name in ("channels", "16 levels", "float16")]
    told = [(row.storage, row.expressed, row.granularity) for row in rows]
    assert told == [("uint8", "float32", "per axis 1"), ("uint4", "float32", "per tensor"), ("uint8", "float16", "per tensor")]


def test_codes_are_signed_when_asked_for() -> None:
    for codes, dtype in (("signed", np.int8), ("unsigned", np.uint8)):
        result = qdqtool.convert(model(CASES["bytes with an odd zero"]), to="ai.onnx", codes=codes).model  # type: ignore[arg-type]
        assert {a.dtype for a in constants(result).values()} == {np.dtype(np.float32), np.dtype(dtype)}


@pytest.mark.full
def test_openvino_computes_the_same(tmp_path: Path) -> None:
    """Within one step near ties, and 2**-20 of the maximum elsewhere, before and after; its plugin has no 65536 levels."""
    python = os.environ.get(OPENVINO)
    if not python:
        pytest.skip(f"{OPENVINO} names no interpreter with OpenVINO")
    for name, case in CASES.items():
        if case.levels <= 256 and case.real is np.float32:
            x, original = values(case), model(case)
            there = qdqtool.convert(original, to="ai.onnx", check=False).model
            again = qdqtool.convert(there, to="fakequantize", check=False).model
            for proto in (original, again):
                judge(case, x, _openvino(python, proto, x, tmp_path / name.replace(" ", "-")))


SCRIPT = """
import sys, numpy, openvino
model = openvino.Core().compile_model(sys.argv[1], "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
numpy.save(sys.argv[3], model({"x": numpy.load(sys.argv[2])})[0])
"""


def _openvino(python: str, proto: ModelProto, x: Array, stem: Path) -> Array:
    files = [stem.with_suffix(end) for end in (".onnx", ".x.npy", ".y.npy")]
    onnx.save(proto, files[0])
    np.save(files[1], x)
    subprocess.run([python, "-c", SCRIPT, *map(str, files)], check=True, env={"PATH": os.environ["PATH"]}, timeout=120)
    return np.asarray(np.load(files[2]))
