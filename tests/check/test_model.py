from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from qdqtool import dtypes
from qdqtool.check.model import ModelOutcome, check_model
from qdqtool.check.options import CheckOptions
from qdqtool.check.probe import Port, Probe
from qdqtool.check.subject import Subject
from qdqtool.exactness import Bound, Exactness
from tests.check.builders import FLOAT, FLOAT16, INT8, fragment, model, node, probe, saved

RNG = np.random.default_rng(0)
CODES = RNG.integers(-128, 128, (64, 16)).astype(np.int8)
SCALE = np.float32(0.013)


def _check(tmp_path: Path, before: ModelProto, after: ModelProto, *probes: Probe, **options: object) -> ModelOutcome:
    old, new = saved(before, tmp_path / "old.onnx"), saved(after, tmp_path / "new.onnx")
    return check_model(Subject(old, (tmp_path,)), Subject(new, (tmp_path,)), probes, CheckOptions(**options))  # type: ignore[arg-type]


def _layer(scale: np.float32 = SCALE, opset: int = 21) -> ModelProto:
    nodes = [node("DequantizeLinear", ["w", "s"], ["d"]), node("MatMul", ["x", "d"], ["y"]), node("Relu", ["x"], ["z"])]
    return model(nodes, [("x", FLOAT, ["n", 64])], [("y", FLOAT), ("z", FLOAT)], opset=opset, w=CODES, s=scale)


def test_equal_models_are_equal_and_each_output_is_named(tmp_path: Path) -> None:
    outcome = _check(tmp_path, _layer(), _layer(opset=13))
    assert [(c.where, c.verdict, c.judge) for c in outcome.comparisons] == [
        ("output y", "equal", "ONNX Runtime"),
        ("output z", "equal", "ONNX Runtime"),
    ]
    assert outcome.reason == ""


def test_a_planted_wrong_output_is_different(tmp_path: Path) -> None:
    outcome = _check(tmp_path, _layer(), _layer(np.nextafter(SCALE, np.float32(1))))
    assert [c.verdict for c in outcome.comparisons] == ["different", "equal"]


def test_a_missing_output_or_a_result_that_does_not_run_is_different(tmp_path: Path) -> None:
    broken = _layer()
    broken.graph.node[1].input[1] = "s"
    broken.graph.node[1].op_type = "Conv"
    outcome = _check(tmp_path, _layer(), broken)
    assert [c.verdict for c in outcome.comparisons] == ["different"]
    assert "the result does not run" in outcome.comparisons[0].reason
    fewer = _layer()
    del fewer.graph.output[1]
    assert any(c.verdict == "different" for c in _check(tmp_path, _layer(), fewer).comparisons)


def test_what_depends_on_random_operators_is_named_and_skipped(tmp_path: Path) -> None:
    nodes = [node("RandomNormalLike", ["x"], ["r"], name="noise"), node("Relu", ["x"], ["y"])]
    proto = model(nodes, [("x", FLOAT, [4])], [("r", FLOAT), ("y", FLOAT)])
    outcome = _check(tmp_path, proto, proto)
    assert [c.where for c in outcome.comparisons] == ["output y"]
    assert outcome.notes == ("output r was not compared: it depends on the random operator RandomNormalLike noise",)
    del proto.graph.output[1]
    assert _check(tmp_path, proto, proto).reason == "every output depends on random operators"


def test_an_original_that_nobody_runs_is_a_reason(tmp_path: Path) -> None:
    proto = model([node("Mine", ["x"], ["y"], domain="com.mine")], [("x", FLOAT, [4])], [("y", FLOAT)])
    outcome = _check(tmp_path, proto, proto)
    assert outcome.comparisons == ()
    assert outcome.reason.startswith("ONNX Runtime does not run the original: ")
    assert "; evaluator: " in outcome.reason


def test_no_inputs_is_a_reason(tmp_path: Path) -> None:
    proto = model([node("Relu", ["x"], ["y"])], [("x", FLOAT, None)], [("y", FLOAT)])
    assert _check(tmp_path, proto, proto).reason == "input x has no known rank; give one with --inputs"
    np.savez(tmp_path / "in.npz", x=np.ones(3, np.float32))
    assert _check(tmp_path, proto, proto, inputs=tmp_path / "in.npz").comparisons[0].verdict == "equal"


def test_sizes_are_tried_until_the_original_runs(tmp_path: Path) -> None:
    nodes = [node("Reshape", ["x", "shape"], ["y"])]
    proto = model(nodes, [("x", FLOAT, ["a", "b"])], [("y", FLOAT)], shape=np.array([-1, 32]))
    assert _check(tmp_path, proto, proto).comparisons[0].verdict == "equal"


def test_sequences_are_compared(tmp_path: Path) -> None:
    def split(axis: int) -> ModelProto:
        proto = model([node("SplitToSequence", ["x"], ["y"], axis=axis)], [("x", FLOAT, [3, 3])], [("y", FLOAT)])
        proto.graph.output[0].type.Clear()
        proto.graph.output[0].type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
        return proto

    assert _check(tmp_path, split(0), split(0)).comparisons[0].verdict == "equal"
    assert _check(tmp_path, split(0), split(1)).comparisons[0].verdict == "different"


def _bfloat16(scale: float, opset: int) -> ModelProto:
    nodes = [node("DequantizeLinear", ["x", "s"], ["y"])]
    return model(nodes, [("x", INT8, ["n"])], [("y", TensorProto.BFLOAT16)], opset=opset, s=np.array(scale, ml_dtypes.bfloat16))


def test_models_without_a_kernel_run_in_the_evaluator(tmp_path: Path) -> None:
    outcome = _check(tmp_path, _bfloat16(0.5, 28), _bfloat16(0.5, 21))
    assert [(c.verdict, c.judge) for c in outcome.comparisons] == [("equal", "evaluator only")]
    assert "both models were run by the evaluator instead" in outcome.notes[0]
    assert _check(tmp_path, _bfloat16(0.5, 28), _bfloat16(0.75, 21)).comparisons[0].verdict == "different"
    assert _check(tmp_path, _layer(), _layer(opset=28)).comparisons[0].judge == "evaluator only"


HALF = np.float16(0.013)

# float16: ONNX Runtime drops the rounding of a Cast before a MatMul that it runs in float32.


def _half(scale: np.float16 = HALF, lowered: bool = False) -> ModelProto:
    dequantize = [node("DequantizeLinear", ["w", "s"], ["f"]), node("Cast", ["f"], ["d"], to=FLOAT16)]
    nodes = (
        [*dequantize, node("MatMul", ["x", "d"], ["y"])]
        if lowered
        else [node("DequantizeLinear", ["w", "s"], ["d"]), node("MatMul", ["x", "d"], ["y"])]
    )
    return model(nodes, [("x", FLOAT16, [8, 64])], [("y", FLOAT16)], w=CODES, s=np.float32(scale) if lowered else scale)


def _half_probe() -> Probe:
    old = fragment([node("DequantizeLinear", ["w", "s"], ["d"])], 21, [], Port("d", dtypes.FLOAT16), w=CODES, s=np.float16(0.013))
    nodes = [node("DequantizeLinear", ["w", "s"], ["f"]), node("Cast", ["f"], ["d"], to=FLOAT16)]
    new = fragment(nodes, 21, [], Port("d", dtypes.FLOAT16), w=CODES, s=np.float32(np.float16(0.013)))
    return probe(old, new, output_in_model="d")


def test_float16_that_the_runtime_keeps_wide_is_cleared_by_replay(tmp_path: Path) -> None:
    outcome = _check(tmp_path, _half(), _half(lowered=True), _half_probe())
    assert outcome.comparisons[0].verdict == "equal"
    assert "ONNX Runtime keeps float32 between float16 nodes" in outcome.comparisons[0].reason
    assert [c.where for c in outcome.replayed] == ["main / step", "outside of the rewritten steps: value y"]


def test_a_float16_fault_does_not_hide_behind_it(tmp_path: Path) -> None:
    wrong = _half(np.nextafter(np.float16(0.013), np.float16(1)), lowered=True)
    outcome = _check(tmp_path, _half(), wrong, _half_probe())
    assert outcome.comparisons[0].verdict == "different"
    assert "main / step: different" in outcome.notes[0]


# Two steps in a row, each a Q-DQ pair, with a Relu between them.


def _chain(first: float, second: float, between: str = "Relu", reciprocal: bool = False) -> ModelProto:
    divide = [node("Mul", ["x", "r"], ["m"]), node("QuantizeLinear", ["m", "one"], ["q"])]
    nodes = [
        *(divide if reciprocal else [node("QuantizeLinear", ["x", "s1"], ["q"])]),
        node("DequantizeLinear", ["q", "s1"], ["a"]),
        node(between, ["a"], ["b"]),
        node("QuantizeLinear", ["b", "s2"], ["p"]),
        node("DequantizeLinear", ["p", "s2"], ["y"]),
    ]
    constants = {"s1": np.float32(first), "s2": np.float32(second)}
    constants |= {"r": np.float32(1) / np.float32(first), "one": np.float32(1)} if reciprocal else {}
    return model(nodes, [("x", FLOAT, [4096])], [("y", FLOAT)], **constants)


def _steps(exactness: Exactness, bound: Bound | None) -> list[Probe]:
    def quantize(source: str, scale: float, target: str) -> Probe:
        made = fragment(
            [node("QuantizeLinear", ["x", "s"], ["y"])],
            21,
            [Port("x", dtypes.FLOAT, (4096,))],
            Port("y", dtypes.UINT8),
            s=np.float32(scale),
        )
        return Probe(f"main / {target}", exactness, bound, made, made, (source,), target)

    return [quantize("x", 0.01, "q"), quantize("b", 0.02, "p")]


def test_rounding_is_judged_by_replay(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=(np.arange(4096) % 255 + 0.5).astype(np.float32) * np.float32(0.01))
    outcome = _check(
        tmp_path,
        _chain(0.01, 0.02),
        _chain(0.01, 0.02, reciprocal=True),
        *_steps(Exactness.ROUNDING, Bound(steps=1)),
        inputs=tmp_path / "in.npz",
    )
    assert outcome.comparisons[0].verdict == "within bound"
    assert "each step keeps its bound" in outcome.comparisons[0].reason
    assert "replayed on the original's own values" in outcome.notes[0]


@pytest.mark.parametrize(
    ("wrong", "blamed"),
    [
        (_chain(0.0103, 0.02), "main / q"),
        (_chain(0.01, 0.0206), "main / p"),
        (_chain(0.01, 0.02, between="Abs"), ""),
        (_chain(0.01, 0.02, between="Neg"), "outside of the rewritten steps: value b"),
    ],
    ids=["first step", "second step", "nothing", "between"],
)
def test_blame_falls_on_the_first_that_differs_on_real_values(tmp_path: Path, wrong: ModelProto, blamed: str) -> None:
    for exactness, bound in [(Exactness.BIT_EQUAL, None), (Exactness.ROUNDING, Bound(steps=1))]:
        np.savez(tmp_path / "in.npz", x=np.linspace(0.1, 5, 4096, dtype=np.float32))
        outcome = _check(tmp_path, _chain(0.01, 0.02), wrong, *_steps(exactness, bound), inputs=tmp_path / "in.npz")
        assert (outcome.comparisons[0].verdict == "different") == bool(blamed)
        assert not blamed or blamed in outcome.notes[0]


def test_rounding_without_a_replay_is_left_to_the_steps_unless_it_is_too_much(tmp_path: Path) -> None:
    unnamed = fragment([node("Relu", ["x"], ["y"])], 21, [Port("x", dtypes.FLOAT, (4,))], Port("y", dtypes.FLOAT))
    loose = probe(unnamed, unnamed, Exactness.ROUNDING, Bound(ulps=2))
    near = _check(tmp_path, _layer(), _layer(np.nextafter(SCALE, np.float32(1))), loose)
    far = _check(tmp_path, _layer(), _layer(SCALE * np.float32(1.5)), loose)
    assert near.comparisons[0].verdict == "within bound"
    assert "judged by its steps" in near.comparisons[0].reason
    assert far.comparisons[0].verdict == "different"


def test_the_sign_of_a_zero_may_change_where_steps_are_value_equal(tmp_path: Path) -> None:
    signed = model([node("Mul", ["x", "m"], ["y"])], [("x", FLOAT, [4])], [("y", FLOAT)], m=np.float32(-0.0))
    plain = model([node("Abs", ["x"], ["a"]), node("Mul", ["a", "m"], ["y"])], [("x", FLOAT, [4])], [("y", FLOAT)], m=np.float32(0))
    step = fragment([node("Relu", ["x"], ["y"])], 21, [Port("x", dtypes.FLOAT, (4,))], Port("y", dtypes.FLOAT))
    assert _check(tmp_path, signed, plain).comparisons[0].verdict == "different"
    assert _check(tmp_path, signed, plain, probe(step, step, Exactness.VALUE_EQUAL)).comparisons[0].verdict == "equal"


def test_subgraphs_read_values_that_are_cut(tmp_path: Path) -> None:
    def branched(scale: float) -> ModelProto:
        def branch(op: str) -> object:
            return helper.make_graph([node(op, ["d"], ["r"])], "branch", [], [helper.make_tensor_value_info("r", FLOAT, None)])

        nodes = [
            node("QuantizeLinear", ["x", "s"], ["q"]),
            node("DequantizeLinear", ["q", "s"], ["d"]),
            node("If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Relu")),
        ]
        return model(nodes, [("x", FLOAT, [64])], [("y", FLOAT)], s=np.float32(scale), c=np.array(True))

    step = fragment(
        [node("DequantizeLinear", ["x", "s"], ["y"])], 21, [Port("x", dtypes.UINT8, (64,))], Port("y", dtypes.FLOAT), s=np.float32(0.1)
    )
    made = Probe("main / d", Exactness.BIT_EQUAL, None, step, step, ("q",), "d")
    outcome = _check(tmp_path, branched(0.1), branched(0.2), made)
    assert outcome.comparisons[0].verdict == "different"
    assert "outside of the rewritten steps: value q: different" in outcome.notes[0]
