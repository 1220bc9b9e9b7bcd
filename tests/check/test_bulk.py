from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from onnx import helper

from qdqtool import dtypes
from qdqtool.check import bulk, sessions
from qdqtool.check.bulk import batches, entry, joined
from qdqtool.check.probe import Fragment, Port, Probe
from qdqtool.check.sessions import Setting
from qdqtool.check.steps import EVALUATOR, RUNTIME, check_steps
from qdqtool.kernels.sources import ArraySource
from tests.check.builders import FLOAT, fragment, node, probe

RNG = np.random.default_rng(0)


def _quantize(scale: float, opset: int = 13, name: str = "x", shape: Sequence[int | None] = (16, 16)) -> Fragment:
    made = node("QuantizeLinear", [name, "s"], [f"q_{name}"], name=f"node of {name}")
    return fragment([made], opset, [Port(name, dtypes.FLOAT, tuple(shape))], Port(f"q_{name}", dtypes.UINT8), s=np.float32(scale))


def _step(number: int, scale: float = 0.0, wrong: float = 1.0, opset: int = 10) -> Probe:
    scale = scale or 0.01 + number / 100
    made = probe(_quantize(scale, name=f"x{number}"), _quantize(scale * wrong, opset, f"x{number}"))
    return Probe(f"main / {number}", made.exactness, made.bound, made.before, made.after)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of nodes of each session."""
    found: list[int] = []
    plain = sessions.session

    def counted(source: bytes, *rest: object, **named: object) -> object:
        found.append(len(helper.onnx.ModelProto.FromString(source).graph.node))  # type: ignore[attr-defined]
        return plain(source, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(sessions, "session", counted)
    return found


def test_steps_of_one_form_share_two_sessions_and_keep_their_order(opened: list[int]) -> None:
    steps = [_step(i, wrong=1.01 if i % 7 == 3 else 1.0) for i in range(40)]
    results = check_steps(steps, Setting(), 0)
    assert opened == [40, 40]
    assert [r.where for r in results] == [f"main / {i}" for i in range(40)]
    assert [r.verdict for r in results] == ["different" if i % 7 == 3 else "equal" for i in range(40)]
    alone = [check_steps([step], Setting(), 0)[0] for step in steps]
    assert alone == results


def test_identical_steps_are_checked_once(opened: list[int]) -> None:
    results = check_steps([_step(i, scale=0.5) for i in range(9)] + [_step(9, scale=0.5, wrong=2)], Setting(), 0)
    assert opened == [2, 2]
    assert [r.verdict for r in results] == ["equal"] * 9 + ["different"]
    assert results[8].where == "main / 8"


def test_another_form_has_sessions_of_its_own(opened: list[int]) -> None:
    check_steps([_step(0), _step(1, opset=19), _step(2), _step(3, opset=19), _step(4)], Setting(), 0)
    assert opened == [3, 3, 2, 2]


def test_the_step_that_does_not_run_is_found_among_its_fellows() -> None:
    def reshaped(length: int) -> Probe:
        nodes = [node("Reshape", ["x", "shape"], ["r"]), node("QuantizeLinear", ["r", "s"], ["y"])]
        ends = [Port("x", dtypes.FLOAT, (4, 6))], Port("y", dtypes.UINT8)
        before = fragment(nodes, 13, *ends, s=np.float32(length), shape=np.array([6, 4]))
        return probe(before, fragment(nodes, 13, *ends, s=np.float32(length), shape=np.array([length, 4])))

    results = check_steps([reshaped(6), reshaped(5), reshaped(6)], Setting(), 0)
    assert [r.verdict for r in results] == ["equal", "different", "equal"]
    assert "the replacement does not run" in results[1].reason


def test_the_evaluator_takes_them_together_too() -> None:
    results = check_steps([_step(i, opset=28, wrong=1.0 + (i == 2)) for i in range(5)], Setting(), 0)
    assert [(r.verdict, r.judge) for r in results] == [("different" if i == 2 else "equal", EVALUATOR) for i in range(5)]


def test_bodies_within_nodes_stay_as_they_are() -> None:
    body = helper.make_graph([node("Neg", ["x"], ["r"])], "body", [], [helper.make_tensor_value_info("r", FLOAT, None)])
    branched = fragment(
        [node("If", ["c"], ["y"], then_branch=body, else_branch=body)],
        13, [Port("x", dtypes.FLOAT, (4,))], Port("y", dtypes.FLOAT), c=np.array(True),
    )  # fmt: skip
    results = check_steps([probe(branched, branched)] * 2, Setting(), 0)
    assert [(r.verdict, r.judge) for r in results] == [("equal", RUNTIME)] * 2


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [entry(i, _step(i)) for i in range(20)]
    monkeypatch.setattr(bulk, "_MOST_ELEMENTS", 5 * entries[0].elements)
    assert [len(batch) for batch in batches(entries)] == [6, 6, 6, 2]
    monkeypatch.setattr(bulk, "_MOST_STEPS", 4)
    assert [len(batch) for batch in batches(entries)] == [4] * 5


def test_joined_fragments_keep_their_names_apart() -> None:
    both = joined([_quantize(1), _quantize(2)])
    assert [port.name for port in both.inputs] == ["x", "1/x"]
    assert sorted(both.constants) == ["1/s", "s"]
    assert both.constants["1/s"].read(0, 1) == [2]


def test_large_inputs_are_tried_smaller_but_never_judged_by_that_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    plain = sessions.run

    def watched(opened: object, inputs: dict[str, np.ndarray], wanted: Sequence[str]) -> object:
        sizes.append(sum(value.size for value in inputs.values()))
        return plain(opened, inputs, wanted)  # type: ignore[arg-type]

    monkeypatch.setattr(sessions, "run", watched)
    large = (1, 512, 768)
    assert check_steps([probe(_quantize(1, shape=large), _quantize(1, 10, shape=large))], Setting(), 0)[0].verdict == "equal"
    assert max(sizes) <= 1 << 13
    nodes = [node("Reshape", ["x", "shape"], ["r"]), node("QuantizeLinear", ["r", "s"], ["f"]), node("Reshape", ["f", "back"], ["y"])]
    ends = [Port("x", dtypes.FLOAT, large)], Port("y", dtypes.UINT8)
    there = fragment(nodes, 13, *ends, s=np.float32(1), shape=np.array([512, 768]), back=np.array(large))
    assert check_steps([probe(_quantize(1, shape=large), there)], Setting(), 0)[0].verdict == "equal"
    assert max(sizes) == 512 * 768


def test_steps_that_differ_in_a_default_alone_are_two(opened: list[int]) -> None:
    def reduced(axis: int, wrong: int = 0) -> Probe:
        ends = (
            [Port("x", dtypes.FLOAT, (4, 6, 3)), Port("axes", dtypes.INT64, (1,), ArraySource(np.array([axis])))],
            Port("y", dtypes.FLOAT),
        )
        before = fragment([node("ReduceMean", ["x", "axes"], ["y"])], 21, *ends)
        return probe(before, replace(before, nodes=(node("ReduceMean", ["x", "axes"], ["y"], keepdims=1 - wrong),)))

    assert [r.verdict for r in check_steps([reduced(0), reduced(1), reduced(2, wrong=1)], Setting(), 0)] == ["equal", "equal", "different"]
    assert opened[:2] == [2, 2]
