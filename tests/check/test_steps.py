import ml_dtypes
import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.check.probe import Fragment, Port, Probe
from qdqtool.check.sessions import Setting
from qdqtool.check.steps import EVALUATOR, RUNTIME, check_steps
from qdqtool.exactness import Bound, Exactness
from tests.check.builders import FIVE_SCALES as S
from tests.check.builders import FIVE_ZERO_POINTS as Z
from tests.check.builders import fragment, node, probe, single

SETTING = Setting()
X = [Port("x", dtypes.FLOAT, (3, 5, 7))]


def _verdict(made: Probe) -> tuple[str, str]:
    (result,) = check_steps([made], SETTING, 0)
    return result.verdict, result.judge


def _quantize(opset: int = 13, scale: np.ndarray = S, zero: np.ndarray = Z) -> Fragment:
    return single("QuantizeLinear", opset, dtypes.FLOAT, dtypes.INT8, [scale, zero], axis=1)


def _arithmetic(divide: str = "Div", scale: np.ndarray = S, low: float = -128, zero: np.ndarray = Z) -> Fragment:
    nodes = [
        node(divide, ["x", "s"], ["d"]),
        node("Round", ["d"], ["r"]),
        node("Add", ["r", "z"], ["a"]),
        node("Clip", ["a", "low", "high"], ["c"]),
        node("Cast", ["c"], ["y"], to=3),
    ]
    shaped = {"s": scale[:, None], "z": zero.astype(np.float32)[:, None], "low": np.float32(low), "high": np.float32(127)}
    return fragment(nodes, 13, X, Port("y", dtypes.INT8), **shaped)


def test_the_same_step_at_another_opset_is_equal() -> None:
    assert _verdict(probe(_quantize(13), _quantize(21))) == ("equal", RUNTIME)
    assert _verdict(probe(_quantize(), _arithmetic())) == ("equal", RUNTIME)


PLANTED = {
    "scale off by one ulp": _quantize(scale=np.nextafter(S, np.float32(9))),
    "one scale off by one ulp": _quantize(scale=np.where(S == 7, np.nextafter(S, np.float32(0)), S)),
    "zero point dropped": _quantize(zero=np.zeros_like(Z)),
    "scales in another order": _quantize(scale=S[::-1].copy()),
    "multiplied by the reciprocal": _arithmetic("Mul", (1 / S).astype(np.float32)),
    "clipped one code early": _arithmetic(low=-127),
    "zero point off by one": _arithmetic(zero=(Z - 1).astype(np.int8)),
    "shape changed": fragment(
        [node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1), node("Reshape", ["q", "flat"], ["y"])],
        13, X, Port("y", dtypes.INT8), s=S, z=Z, flat=np.array([-1]),
    ),
    "does not run": single("QuantizeLinear", 13, dtypes.FLOAT, dtypes.INT8, [S, Z], axis=2),
}  # fmt: skip


@pytest.mark.parametrize("after", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_fault_is_caught(after: Fragment) -> None:
    assert _verdict(probe(_quantize(), after)) == ("different", RUNTIME)


def test_rounding_is_judged_by_its_bound() -> None:
    reciprocal = _arithmetic("Mul", (1 / S).astype(np.float32))
    assert _verdict(probe(_quantize(), reciprocal, Exactness.ROUNDING, Bound(steps=1))) == ("within bound", RUNTIME)
    assert _verdict(probe(_quantize(), _quantize(zero=(Z - 2).astype(np.int8)), Exactness.ROUNDING, Bound(steps=1))) == (
        "different",
        RUNTIME,
    )


def test_one_step_of_a_pair_is_the_value_of_its_scale() -> None:
    def pair(scale: np.ndarray) -> Fragment:
        nodes = [node("QuantizeLinear", ["x", "q"], ["c"], axis=1), node("DequantizeLinear", ["c", "s"], ["y"], axis=1)]
        return fragment(nodes, 13, X, Port("y", dtypes.FLOAT), q=scale, s=S)

    nudged = pair(np.nextafter(S, np.float32(9)))
    assert _verdict(probe(pair(S), nudged, Exactness.ROUNDING, Bound(steps=1))) == ("within bound", RUNTIME)
    assert _verdict(probe(pair(S), nudged, Exactness.ROUNDING, Bound(ulps=1))) == ("different", RUNTIME)


def test_a_scale_of_zero_is_outside_every_claim() -> None:
    zero = np.where(S == 1, 0, S).astype(np.float32)
    other = np.where(S == 1, np.float32(5), S)
    assert _verdict(probe(_quantize(scale=zero), _quantize(scale=other))) == ("equal", RUNTIME)


def test_the_sign_of_zero_is_seen() -> None:
    before = single("DequantizeLinear", 19, dtypes.FLOAT8E4M3FN, dtypes.FLOAT, [np.float32(0.5)])
    positive = fragment(
        [node("DequantizeLinear", ["x", "s"], ["d"]), node("Add", ["d", "zero"], ["y"])],
        19, [Port("x", dtypes.FLOAT8E4M3FN, (3, 5, 7))], Port("y", dtypes.FLOAT), s=np.float32(0.5), zero=np.float32(0),
    )  # fmt: skip
    assert _verdict(probe(before, positive)) == ("different", RUNTIME)
    assert _verdict(probe(before, positive, Exactness.VALUE_EQUAL)) == ("equal", RUNTIME)


def test_transposed_blocks_are_caught() -> None:
    def blocked(scale: np.ndarray, dtype: dtypes.ElementType) -> Fragment:
        made = node("DequantizeLinear", ["w", "s"], ["y"], axis=0, block_size=2)
        weights = np.random.default_rng(0).integers(-8, 8, (8, 4)).astype(np.int8).astype(dtype.numpy)
        return fragment([made], 21, [], Port("y", dtypes.FLOAT), w=weights, s=scale)

    scale = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
    assert _verdict(probe(blocked(scale, dtypes.INT4), blocked(scale, dtypes.INT8))) == ("equal", RUNTIME)
    assert _verdict(probe(blocked(scale, dtypes.INT4), blocked(scale.T.copy(), dtypes.INT8))) == ("different", RUNTIME)


def _bfloat16(opset: int) -> Fragment:
    return single("DequantizeLinear", opset, dtypes.INT8, dtypes.BFLOAT16, [S.astype(ml_dtypes.bfloat16)], axis=1)


def test_what_the_runtime_lacks_is_judged_by_the_evaluator() -> None:
    wide = S.astype(ml_dtypes.bfloat16).astype(np.float32)
    nodes = [node("DequantizeLinear", ["x", "s"], ["d"], axis=1), node("Cast", ["d"], ["y"], to=16)]
    port = [Port("x", dtypes.INT8, (3, 5, 7))]
    lowered = fragment(nodes, 13, port, Port("y", dtypes.BFLOAT16), s=wide)
    wrong = fragment(nodes, 13, port, Port("y", dtypes.BFLOAT16), s=wide[::-1].copy())
    assert _verdict(probe(_bfloat16(21), lowered)) == ("equal", EVALUATOR)
    assert _verdict(probe(_bfloat16(21), wrong)) == ("different", EVALUATOR)
    assert _verdict(probe(_quantize(27), _quantize(28))) == ("equal", EVALUATOR)


def test_float4_carried_by_float16() -> None:
    before = single("DequantizeLinear", 23, dtypes.FLOAT4E2M1, dtypes.FLOAT, [S], axis=1)
    nodes = [node("Cast", ["x"], ["f"], to=1), node("Mul", ["f", "s"], ["y"])]
    after = fragment(nodes, 13, [Port("x", dtypes.FLOAT16, (3, 5, 7))], Port("y", dtypes.FLOAT), s=S[:, None])
    halved = fragment(nodes, 13, [Port("x", dtypes.FLOAT16, (3, 5, 7))], Port("y", dtypes.FLOAT), s=S[:, None] / 2)
    assert _verdict(probe(before, after)) == ("equal", EVALUATOR)
    assert _verdict(probe(before, halved)) == ("different", EVALUATOR)


def test_a_replacement_that_is_no_valid_graph_is_different_even_if_nobody_runs_it() -> None:
    (result,) = check_steps([probe(_quantize(), single("Nothing", 13, dtypes.FLOAT, dtypes.INT8, [S]))], SETTING, 0)
    assert result.verdict == "different"
    assert "No Op registered for Nothing" in result.reason


def test_what_nobody_runs_is_not_checked() -> None:
    custom = fragment([node("Mine", ["x"], ["y"], domain="com.mine")], 13, X, Port("y", dtypes.INT8))
    (result,) = check_steps([probe(custom, custom)], SETTING, 0)
    assert result.verdict == "not checked"
    assert "ONNX Runtime: " in result.reason
    assert "evaluator only: " in result.reason


def test_unknown_shapes_are_found() -> None:
    def blocked(opset: int, dtype: dtypes.ElementType, axis: int = 1) -> Fragment:
        made = node("DequantizeLinear", ["x", "s"], ["y"], axis=axis, block_size=16)
        return fragment([made], opset, [Port("x", dtype)], Port("y", dtypes.FLOAT), s=np.arange(1, 9, dtype=np.float32).reshape(4, 2))

    assert _verdict(probe(blocked(25, dtypes.INT2), blocked(21, dtypes.INT8))) == ("equal", RUNTIME)
    assert _verdict(probe(blocked(25, dtypes.INT2), blocked(21, dtypes.INT8, axis=0))) == ("different", RUNTIME)


def test_all_probes_are_checked_in_order() -> None:
    results = check_steps([probe(_quantize(), _quantize()), probe(_quantize(), PLANTED["zero point dropped"])], SETTING, 0)
    assert [r.verdict for r in results] == ["equal", "different"]


def test_an_unknown_rank_that_does_not_fit_is_passed_over() -> None:
    def blocked(opset: int) -> Fragment:
        made = node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=0, block_size=64)
        zero = np.ones((1, 4), np.int8)
        return fragment([made], opset, [Port("x", dtypes.FLOAT)], Port("y", dtypes.INT8), s=np.full((1, 4), 0.1, np.float32), z=zero)

    assert _verdict(probe(blocked(21), blocked(25))) == ("equal", RUNTIME)
