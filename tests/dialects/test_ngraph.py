"""nGraph's Dequantize and Quantize over every set of axes: written as arithmetic, raised to nodes, and emitted again, bit for bit.

nGraph spreads scale and offset, shaped like the input restricted to `axes`, over the rest; it subtracts integers and multiplies once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdqtool
from qdqtool import dtypes
from qdqtool.expressions import Runtime, Step, Stored
from qdqtool.plan.choices import Choice
from qdqtool.quantization import Meaning, PerAxis, PerTensor, Rounding
from tests.dialects.layouts import operators, run
from tests.lowerings.given import Given
from tests.lowerings.verbs import chosen, evaluate

Array = np.ndarray[Any, np.dtype[Any]]
SHAPES = ((12,), (3, 12), (3, 4, 12), (2, 3, 4, 8))
STEPS = {"QuantizeLinear", "DequantizeLinear"}
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16)


@dataclass(frozen=True)
class Drawn:
    """An input and what is spread over it, without the axes that are not named."""

    axes: tuple[int, ...]
    data: Array
    scale: Array
    offset: Array

    def spread(self, parameter: Array) -> Array:
        """By nGraph's rule: the index of an element projected on `axes`."""
        out = np.empty(self.data.shape, parameter.dtype)
        for index in np.ndindex(self.data.shape):
            out[index] = parameter[tuple(index[a] for a in self.axes)]
        return out

    def kept(self, parameter: Array) -> Array:
        """With the other axes as 1, so that it broadcasts."""
        return parameter.reshape([n if a in self.axes else 1 for a, n in enumerate(self.data.shape)])


def subsets(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for count in range(len(shape) + 1):
        yield from combinations(range(len(shape)), count)


def drawn(shape: tuple[int, ...], axes: tuple[int, ...], quantized: Any, real: Any, *, codes: bool) -> Drawn:
    rng = np.random.default_rng([*shape, len(axes), *axes])
    info, restricted = np.iinfo(quantized), [shape[a] for a in axes]
    scale = rng.uniform(0.01, 0.2, restricted).astype(real)
    offset = rng.integers(info.min, info.max, restricted, quantized, endpoint=True) if info.bits <= 16 else np.zeros(restricted, quantized)
    made = Drawn(axes, rng.integers(info.min, info.max, shape, quantized, endpoint=True), scale, np.asarray(offset))
    if codes:
        return made
    steps = rng.integers(-2 * info.max, 2 * info.max, shape) / 2
    return Drawn(axes, ((steps - made.spread(made.offset)) * made.spread(made.scale)).astype(real), scale, np.asarray(offset))


def dequantized(d: Drawn) -> Array:
    real = d.scale.dtype.type
    difference = d.data.astype(np.int64) - d.spread(d.offset).astype(np.int64)
    return (difference.astype(np.float32) * d.spread(d.scale).astype(np.float32)).astype(real)


def quantized(d: Drawn) -> Array:
    info = np.iinfo(d.offset.dtype)
    rounded = np.rint((d.data / d.spread(d.scale)).astype(np.float32)).astype(np.float64)
    return np.clip(rounded + d.spread(d.offset), info.min, info.max).astype(d.offset.dtype)


def dequantizing(cases: list[Drawn], *, whole: bool = False) -> ModelProto:
    """A Cast, Sub and Mul for each; `whole` subtracts in int32."""
    real = helper.np_dtype_to_tensor_dtype(cases[0].scale.dtype)
    nodes, held, outputs = [], {}, []
    for d in cases:
        n = "".join(map(str, d.axes))
        middle = TensorProto.INT32 if whole else real
        nodes += [
            helper.make_node("Cast", [f"q{n}"], [f"w{n}"], f"cast{n}", to=middle),
            helper.make_node("Sub", [f"w{n}", f"o{n}"], [f"d{n}"]),
        ]
        nodes += [helper.make_node("Cast", [f"d{n}"], [f"r{n}"], to=real)] if whole else []
        nodes.append(helper.make_node("Mul", [f"r{n}" if whole else f"d{n}", f"s{n}"], [f"y{n}"]))
        offset = d.kept(d.offset).astype(helper.tensor_dtype_to_np_dtype(middle))
        held |= {f"q{n}": d.data, f"o{n}": offset, f"s{n}": d.kept(d.scale)}
        outputs.append(helper.make_tensor_value_info(f"y{n}", real, d.data.shape))
    return built(nodes, [], outputs, held)


def quantizing(cases: list[Drawn]) -> ModelProto:
    """A Div, Round, Add, Clip and Cast for each."""
    code, info = helper.np_dtype_to_tensor_dtype(cases[0].offset.dtype), np.iinfo(cases[0].offset.dtype)
    nodes, held, inputs, outputs = [], {"low": np.float32(info.min), "high": np.float32(info.max)}, [], []
    for d in cases:
        n = "".join(map(str, d.axes))
        chain = (("Div", [f"x{n}", f"s{n}"]), ("Round", [f"v0{n}"]), ("Add", [f"v1{n}", f"o{n}"]), ("Clip", [f"v2{n}", "low", "high"]))
        nodes += [helper.make_node(op, names, [f"v{i}{n}"]) for i, (op, names) in enumerate(chain)]
        nodes.append(helper.make_node("Cast", [f"v3{n}"], [f"y{n}"], to=code))
        held |= {f"s{n}": d.kept(d.scale), f"o{n}": d.kept(d.offset).astype(np.float32)}
        inputs.append(helper.make_tensor_value_info(f"x{n}", TensorProto.FLOAT, d.data.shape))
        outputs.append(helper.make_tensor_value_info(f"y{n}", code, d.data.shape))
    return built(nodes, inputs, outputs, held)


def built(nodes: list[Any], inputs: list[Any], outputs: list[Any], held: dict[str, Any]) -> ModelProto:
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in held.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def raised(model: ModelProto) -> ModelProto:
    """With nothing but steps; few nodes matter more than few scales."""
    result: ModelProto = qdqtool.convert(model, to="ai.onnx", prefer="nodes", check=False).model
    assert set(operators(result)) <= STEPS
    assert len(result.graph.node) == len(model.graph.output)
    return result


def emitted(model: ModelProto, opset: int) -> ModelProto:
    result: ModelProto = qdqtool.convert(model, to="arithmetic", opset=opset, check=False).model
    assert not STEPS & set(operators(result))
    return result


PAIRS = [*((q, np.float32) for q in (*INTEGERS, np.int32)), (np.int8, np.float16), (np.uint8, np.float16)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"rank{len(s)}")
@pytest.mark.parametrize(("quantized_type", "real"), PAIRS, ids=lambda t: t.__name__)
def test_dequantize_over_every_set_of_axes(quantized_type: Any, real: Any, shape: tuple[int, ...]) -> None:
    cases = [drawn(shape, axes, quantized_type, real, codes=True) for axes in subsets(shape)]
    wanted = {"y" + "".join(map(str, d.axes)): dequantized(d) for d in cases}
    nodes = raised(dequantizing(cases))
    for model in (nodes, emitted(nodes, 7), emitted(nodes, 21)):
        got = run(model, {})
        assert all(got[name].tobytes() == value.tobytes() for name, value in wanted.items())


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"rank{len(s)}")
def test_offsets_taken_off_as_integers(shape: tuple[int, ...]) -> None:
    cases = [drawn(shape, axes, np.uint8, np.float32, codes=True) for axes in subsets(shape)]
    got = run(raised(dequantizing(cases, whole=True)), {})
    assert all(got["y" + "".join(map(str, d.axes))].tobytes() == dequantized(d).tobytes() for d in cases)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"rank{len(s)}")
@pytest.mark.parametrize("quantized_type", INTEGERS, ids=lambda t: t.__name__)
def test_quantize_over_every_set_of_axes(quantized_type: Any, shape: tuple[int, ...]) -> None:
    cases = [drawn(shape, axes, quantized_type, np.float32, codes=False) for axes in subsets(shape)]
    names = ["".join(map(str, d.axes)) for d in cases]
    feeds, wanted = (
        {f"{k}{n}": v for n, v in zip(names, values, strict=True)}
        for k, values in (("x", [d.data for d in cases]), ("y", map(quantized, cases)))
    )
    nodes = raised(quantizing(cases))
    for model in (nodes, emitted(nodes, 7), emitted(nodes, 21)):
        got = run(model, feeds)
        assert all(got[name].tobytes() == value.tobytes() for name, value in wanted.items())


def test_scales_are_not_repeated_past_twice_the_size_unless_few_nodes_are_asked_for() -> None:
    """Scales along one axis and offsets along the other have all elements in common."""
    nodes = [
        helper.make_node("Cast", ["q"], ["w"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["w", "o"], ["d"]),
        helper.make_node("Mul", ["d", "s"], ["y"]),
    ]
    rng = np.random.default_rng(0)
    held = {
        "q": rng.integers(0, 256, (8, 32), np.uint8),
        "o": rng.integers(0, 256, 32).astype(np.float32),
        "s": rng.random((8, 1), np.float32),
    }
    model = built(nodes, [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, (8, 32))], held)
    assert operators(qdqtool.convert(model, to="ai.onnx", check=False).model) == ["Cast", "Sub", "Mul"]
    assert run(raised(model), {})["y"].tobytes() == ((held["q"] - held["o"]) * held["s"]).tobytes()


MODES: dict[str | None, Rounding] = {
    "ROUND_NEAREST_TOWARD_INFINITY": "half away",
    "ROUND_NEAREST_TOWARD_ZERO": "half to zero",
    "ROUND_NEAREST_UPWARD": "half up",
    "ROUND_NEAREST_DOWNWARD": "half down",
    "ROUND_NEAREST_TOWARD_EVEN": "half even",
    "ROUND_TOWARD_INFINITY": "away",
    "ROUND_TOWARD_ZERO": "to zero",
    "ROUND_UP": "up",
    "ROUND_DOWN": "down",
}


def vectors(corpus: Path, op: str) -> list[dict[str, Any]]:
    """nGraph's own tests of an operator, but for int32 results and float64."""
    cases = json.loads((corpus / "cases" / "ngraph_quantize_dequantize.json").read_text(encoding="utf-8"))["cases"]
    return [case for case in cases if case["op"] == op and case["output_dtype"] != "int32"]


def test_what_ngraph_itself_expects_of_dequantize(corpus: Path) -> None:
    cases = vectors(corpus, "Dequantize")
    assert len(cases) == 8
    for case in cases:
        codes, restricted = np.dtype(case["input_dtype"]), tuple(case["scale_offset_shape"])
        scale, offset = np.array(case["scale"], np.float32).reshape(restricted), np.array(case["offset"], codes).reshape(restricted)
        d = Drawn(tuple(case["axes"]), np.array(case["x"], codes).reshape(case["input_shape"]), scale, offset)
        result = qdqtool.convert(dequantizing([d]), to="ai.onnx").model
        stays = codes == np.int32 and offset.any()
        assert operators(result) == (["Cast", "Sub", "Mul"] if stays else ["DequantizeLinear"]), case["name"]
        (got,) = run(result, {}).values()
        assert got.reshape(-1).tolist() == case["expected"], case["name"]


def test_what_ngraph_itself_expects_of_quantize_in_every_round_mode(corpus: Path) -> None:
    cases = vectors(corpus, "Quantize")
    assert {case["round_mode"] for case in cases} == set(MODES)
    for case in cases:
        storage = dtypes.of_numpy(np.dtype(case["output_dtype"]))
        where = PerAxis(case["axes"][0]) if case["axes"] else PerTensor()
        said = Meaning("quantize", storage, dtypes.FLOAT, dtypes.FLOAT, where, dtypes.FLOAT, rounding=MODES[case["round_mode"]])
        x, restricted = np.array(case["x"], np.float32).reshape(case["input_shape"]), tuple(case["scale_offset_shape"])
        scale, offset = (np.array(case[k], t).reshape(restricted) for k, t in (("scale", np.float32), ("offset", storage.numpy)))
        parts = [Stored((), "s", dtypes.FLOAT, restricted), Stored((), "z", storage, restricted)]
        step = Given(Step(said, Runtime("x", dtypes.FLOAT, x.shape), *parts, storage, x.shape), x, scale, offset)
        for opset in (9, 13):
            found = chosen(step, opset)
            assert isinstance(found, Choice)
            assert evaluate(found.expr, step, opset).reshape(-1).tolist() == case["expected"], case["name"]
