"""``pairs``: dequantize and quantize with equal parameters cancel, where each code survives; others only on request, and told how far."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from qdqtool import dtypes as d
from qdqtool.exactness import Exactness
from qdqtool.kernels.sources import ArraySource
from qdqtool.passes import pairs
from qdqtool.quantization import Meaning, PerAxis
from tests.passes.folded import codes, folded, kinds, model, node, ops, scales

T = TensorProto


def there_and_back(storage: d.ElementType, scale: Any, zero: Any, *, opset: int = 25, other: Any = None, **attributes: Any) -> ModelProto:
    """Codes that come in, dequantized, quantized, and so on once more."""
    held = {"s": scale, "z": zero, "t": scale if other is None else other}
    nodes = [
        node("DequantizeLinear", ["c", "s", "z"], "d", **attributes),
        node("QuantizeLinear", ["d", "t", "z"], "q", **attributes),
        node("DequantizeLinear", ["q", "t", "z"], "e", **attributes),
        node("Cast", ["e"], "y", to=T.FLOAT),
    ]
    return model(nodes, held, {"c": (storage.code, [8, 4])}, opset=opset)


KEPT = {
    "another scale": there_and_back(d.INT8, np.float32(0.1), np.int8(3), opset=13, other=np.float32(0.2)),
    "a scale that makes codes overflow": there_and_back(d.UINT8, np.float32(2e36), np.uint8(0), opset=13),
    "a scale of 0": there_and_back(d.UINT8, np.float32(0), np.uint8(0), opset=13),
    "a scale below the normal numbers": there_and_back(d.UINT8, np.float32(1e-44), np.uint8(0), opset=13),
    "one scale of many that is too small": there_and_back(d.INT8, np.float32([1, 1, 1e-40, 1]), codes(d.INT8, 4), opset=13, axis=1),
    "uint16 through float16": there_and_back(d.UINT16, np.float16(0.01), np.uint16(0), opset=21),
    "float8e5m2, whose NaNs have several codes": there_and_back(d.FLOAT8E5M2, np.float32(0.5), np.zeros((), d.FLOAT8E5M2.numpy), opset=19),
    "float8e4m3fn through float16 out of range": there_and_back(
        d.FLOAT8E4M3FN, np.float16(1000), np.zeros((), d.FLOAT8E4M3FN.numpy), opset=19
    ),
}
GONE = {
    "int8, opset 10": there_and_back(d.INT8, np.float32(0.1), np.int8(3), opset=10),
    "uint8 per axis": there_and_back(d.UINT8, scales(4), codes(d.UINT8, 4), opset=13, axis=1),
    "a negative scale": there_and_back(d.UINT8, np.float32(-0.3), np.uint8(9), opset=13),
    "uint16": there_and_back(d.UINT16, np.float32(0.01), np.uint16(70), opset=21),
    "int4 blocks": there_and_back(d.INT4, scales(4, 4), codes(d.INT4, 4, 4), opset=21, axis=0, block_size=2),
    "int2": there_and_back(d.INT2, np.float32(0.01), np.asarray(1, ml_dtypes.int2), opset=25),
    "int8 through float16": there_and_back(d.INT8, np.float16(0.1), np.int8(0), opset=19),
    "float8e4m3fn": there_and_back(d.FLOAT8E4M3FN, np.float32(0.5), np.zeros((), d.FLOAT8E4M3FN.numpy), opset=19),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_does_not_survive_stays(name: str) -> None:
    assert folded(KEPT[name]).folds == ()


@pytest.mark.parametrize("name", GONE)
def test_what_survives_goes(name: str) -> None:
    folding = folded(GONE[name])
    assert (ops(folding), kinds(folding), folding.kept) == (["DequantizeLinear", "Cast"], ["pairs"], 1)
    assert folding.folds[0].exactness is Exactness.BIT_EQUAL


def test_it_can_be_left_out() -> None:
    assert folded(GONE["uint16"], pairs=False).folds == ()


def fake(storage: d.ElementType, zero: Any, opset: int = 19) -> ModelProto:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "w"),
        node("QuantizeLinear", ["w", "t", "z"], "r"),
        node("DequantizeLinear", ["r", "t", "z"], "y"),
    ]
    return model(nodes, {"s": np.float32(0.5), "t": np.float32(0.5), "z": zero}, opset=opset)


@pytest.mark.parametrize("storage", [d.UINT8, d.INT8, *d.FLOAT8])
def test_a_quantize_gives_no_odd_codes(storage: d.ElementType) -> None:
    """Behind a quantize step float8e5m2 survives too."""
    folding = folded(fake(storage, np.zeros((), storage.numpy)))
    assert (ops(folding), kinds(folding)) == (["QuantizeLinear", "DequantizeLinear"], ["pairs"])


def test_a_chain_of_many_becomes_one() -> None:
    nodes, value = [], "x"
    for i in range(5):
        nodes += [node("QuantizeLinear", [value, "s", "z"], f"q{i}"), node("DequantizeLinear", [f"q{i}", "s", "z"], f"d{i}")]
        value = f"d{i}"
    nodes.append(node("Relu", [value], "y"))
    folding = folded(model(nodes, {"s": np.float32(0.1), "z": np.uint8(100)}, opset=13))
    assert ops(folding) == ["QuantizeLinear", "DequantizeLinear", "Relu"]


def test_the_codes_are_an_output_as_well() -> None:
    nodes = [node("DequantizeLinear", ["c", "s"], "d"), node("QuantizeLinear", ["d", "s"], "q")]
    proto = model(nodes, {"s": np.float32(0.1)}, {"c": (T.UINT8, [4])}, {"q": T.UINT8}, opset=13)
    folding = folded(proto)
    assert [(n.op_type, list(n.input), list(n.output)) for n in folding.model.graph.node] == [("Identity", ["c"], ["q"])]


def requantized(first: float, last: float, *, zero: int = 128) -> ModelProto:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "w"),
        node("QuantizeLinear", ["w", "t", "z"], "r"),
        node("DequantizeLinear", ["r", "t", "z"], "y"),
    ]
    return model(nodes, {"s": np.float32(first), "t": np.float32(last), "z": np.uint8(zero)}, opset=13)


def test_other_parameters_stay_unless_asked_for() -> None:
    assert folded(requantized(0.3, 0.1)).folds == ()


@pytest.mark.parametrize(("first", "last", "steps"), [(0.3, 0.1, 2), (0.3, 0.29, 1), (0.5, 0.05, 6)])
def test_other_parameters_on_request(first: float, last: float, steps: int) -> None:
    folding = folded(requantized(first, last), allow_approximate=True)
    assert ops(folding) == ["QuantizeLinear", "DequantizeLinear"]
    (fold,) = folding.folds
    assert (fold.exactness, fold.bound.steps) == (Exactness.APPROXIMATE, steps)
    assert fold.what.endswith(f"at most {steps} step{'s' if steps > 1 else ''} off")
    assert folding.check is not None
    assert folding.check.verdict == "within bound"


def test_what_clips_stays_even_then() -> None:
    assert folded(requantized(0.1, 0.3), allow_approximate=True).folds == ()


@pytest.mark.parametrize("storage", [t for t in d.ALL if t.integer and t.bits <= 8])
def test_the_rule_for_float32_is_that_of_trying(storage: d.ElementType) -> None:
    """What is concluded from the scale is what each code of each scale and zero point shows."""
    rng = np.random.default_rng(5)
    drawn = rng.uniform(-1, 1, 40) * 10.0 ** rng.integers(-44, 38, 40)
    edges = [1.17549435e-38, 1.1754942e-38, 3.4e38 / (2**storage.bits - 1), 1.35e36, 0, np.inf, np.nan]
    meaning = Meaning("quantize", storage, d.FLOAT, d.FLOAT, PerAxis(1), d.FLOAT)
    for value in np.float32([*drawn, *edges]):
        zero = codes(storage, 1)
        parameters = ArraySource(np.float32([value])), ArraySource(zero)
        concluded = pairs.survives(*parameters, meaning, quantized=False)
        assert not concluded or pairs.tried(*parameters, meaning, quantized=False)
        if 2e-38 < abs(value) < 1e35:
            assert concluded


def test_codes_of_4_bits_that_are_an_output_stay() -> None:
    """ONNX Runtime has no Identity for them."""
    nodes = [node("DequantizeLinear", ["c", "s"], "d"), node("QuantizeLinear", ["d", "s"], "q", output_dtype=T.INT4)]
    proto = model(nodes, {"s": np.float32(0.1)}, {"c": (T.INT4, [4])}, {"q": T.INT4})
    assert folded(proto).folds == ()
