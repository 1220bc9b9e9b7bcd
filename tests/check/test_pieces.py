from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from qdqtool.check import CheckOptions, check, pieces, segments, sessions
from qdqtool.check.runs import in_runtime
from qdqtool.check.segments import cuts
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.check.subject import Subject
from tests.check.builders import FLOAT, FLOAT16, INT64, model, node, saved

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 16)).astype(np.float32)
LAYERS = 6
_CODES = {f"w{i}": RNG.integers(-128, 128, (16, 16)).astype(np.int8) for i in range(LAYERS)}
_CODE_BYTES = 256 + 4


def _chain(dtype: int = FLOAT, **changed: np.ndarray) -> ModelProto:
    """Layers of DequantizeLinear and MatMul with a residual, each with one value to carry over."""
    nodes, last = [], "x"
    for i in range(LAYERS):
        nodes += [
            node("DequantizeLinear", [f"w{i}", f"s{i}"], [f"d{i}"]),
            node("MatMul", [last, f"d{i}"], [f"m{i}"]),
            node("Add", [f"m{i}", last], [f"y{i}"]),
        ]
        last = f"y{i}"
    scale = np.float16(0.01) if dtype == FLOAT16 else np.float32(0.01)
    constants = {**_CODES, **{f"s{i}": scale for i in range(LAYERS)}, **changed}
    return model(nodes, [("x", dtype, ["n", 16])], [(last, dtype), ("m1", dtype)], **constants)


def _branches() -> ModelProto:
    """A body that reads a value and a constant from long before it."""

    def body(op: str) -> object:
        inside = [node(op, ["a", "w0"], ["f"]), node("Add", ["f", "b"], ["r"])]
        return helper.make_graph(inside, "body", [], [helper.make_tensor_value_info("r", FLOAT, None)])

    nodes = [
        node("Add", ["x", "w0"], ["a"]),
        node("Add", ["a", "w1"], ["b"]),
        node("ReduceMax", ["b"], ["top"], keepdims=0),
        node("Greater", ["top", "zero"], ["c"]),
        node("If", ["c"], ["y"], then_branch=body("Mul"), else_branch=body("Sub")),
    ]
    floats = {f"w{i}": RNG.normal(size=(3, 16)).astype(np.float32) for i in range(2)}
    return model(nodes, [("x", FLOAT, [3, 16])], [("y", FLOAT)], zero=np.float32(0), **floats)


def _kinds() -> ModelProto:
    """Sequences, strings, whole numbers and Constant nodes across the cuts; unsorted, with constants and inputs as outputs."""
    nodes = [
        node("Reshape", ["joined", "shape"], ["y"]),
        node("Constant", [], ["shape"], value_ints=[-1]),
        node("SplitToSequence", ["x"], ["parts"], axis=0),
        node("Shape", ["x"], ["size"]),
        node("Cast", ["size"], ["text"], to=TensorProto.STRING),
        node("ConcatFromSequence", ["parts"], ["whole"], axis=0),
        node("Add", ["whole", "w0"], ["joined"]),
        node("Reshape", ["text", "shape"], ["t"]),
    ]
    proto = model(nodes, [("x", FLOAT, [3, 16])], [("y", FLOAT), ("t", TensorProto.STRING), ("shape", INT64)], w0=X)
    proto.graph.output.append(proto.graph.input[0])
    return proto


MODELS: dict[str, Callable[[], ModelProto]] = {"chain": _chain, "branches": _branches, "kinds": _kinds}


@pytest.mark.parametrize("proto", [made() for made in MODELS.values()], ids=MODELS)
def test_pieces_give_the_bits_of_one_session(proto: ModelProto) -> None:
    wanted = [output.name for output in proto.graph.output]
    with sessions.session(proto.SerializeToString(), Setting()) as opened:
        whole = sessions.run(opened, {"x": X}, wanted)
    names = [name for made in proto.graph.node for name in made.output]
    for at in [*((name,) for name in names), tuple(names)]:
        parts = pieces.run(proto, at, None, Setting(), {"x": X}, wanted)
        assert all(np.array_equal(np.asarray(whole[name]), np.asarray(parts[name])) for name in wanted), at


def test_each_piece_reads_only_its_own_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[set[str]] = []
    plain = sessions.session

    def watched(source: bytes, *rest: object, **named: object) -> object:
        opened.append({tensor.name for tensor in ModelProto.FromString(source).graph.initializer})
        return plain(source, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(sessions, "session", watched)
    pieces.run(_chain(), ("y1", "y3"), None, Setting(), {"x": X}, ["y5", "m1"])
    assert opened == [{"w0", "s0", "w1", "s1"}, {"w2", "s2", "w3", "s3"}, {"w4", "s4", "w5", "s5"}]


def test_small_models_are_not_cut() -> None:
    assert cuts((_chain(), _chain())) == ()


@pytest.mark.parametrize(("layers", "found"), [(2, ("y1", "y3")), (3, ("y2",)), (1, ("y0", "y1", "y2", "y3", "y4"))])
def test_cuts_keep_to_the_limit_and_carry_little(monkeypatch: pytest.MonkeyPatch, layers: int, found: tuple[str, ...]) -> None:
    monkeypatch.setattr(segments, "LIMIT", layers * _CODE_BYTES)
    assert cuts((_chain(),)) == found


def test_the_larger_of_two_models_decides_and_both_know_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "LIMIT", 3 * _CODE_BYTES)
    wide = {name: codes.astype(np.int32) for name, codes in _CODES.items()}
    assert cuts((_chain(), _chain(**wide))) == ("y0", "y1", "y2", "y3", "y4")
    renamed = _chain()
    for made in renamed.graph.node:
        made.output[0] = made.output[0].replace("y2", "other")
        made.input[:] = [name.replace("y2", "other") for name in made.input]
    assert "y2" not in cuts((_chain(), renamed))


def _checked(tmp_path: Path, before: ModelProto, after: ModelProto) -> tuple[str, tuple[str, ...]]:
    report = check(saved(before, tmp_path / "a.onnx"), saved(after, tmp_path / "b.onnx"), [], options=CheckOptions(info=False))
    return report.verdict, report.notes


def test_a_check_in_pieces_says_so_and_still_sees_one_wrong_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "LIMIT", 2 * _CODE_BYTES)
    verdict, notes = _checked(tmp_path, _chain(), _chain())
    assert verdict == "equal"
    assert notes == ("both models ran in 3 pieces, one after the other: their constants exceed 256 MiB",)
    wrong = _CODES["w4"].copy()
    wrong[3, 3] ^= 1
    assert _checked(tmp_path, _chain(), _chain(w4=wrong))[0] == "different"


def test_float16_is_cut_at_the_same_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "LIMIT", 2 * _CODE_BYTES)
    wide = _chain(FLOAT16, **{name: codes.astype(np.int32) for name, codes in _CODES.items()})
    assert _checked(tmp_path, _chain(FLOAT16), wide)[0] == "equal"


def test_what_cannot_be_handed_on_falls_back_to_one_session(tmp_path: Path) -> None:
    proto = model(
        [node("Optional", ["x"], ["o"]), node("OptionalHasElement", ["o"], ["h"]), node("Relu", ["x"], ["y"])],
        [("x", FLOAT, [3, 16])], [("h", TensorProto.BOOL), ("y", FLOAT)], opset=15,
    )  # fmt: skip
    with pytest.raises(CannotRun):
        pieces.run(proto, ("o",), None, Setting(), {"x": X}, ["h", "y"])
    ran = in_runtime(Subject(saved(proto, tmp_path / "m.onnx"), (tmp_path,)), Setting(), [{"x": X}], ["h", "y"], ("o",))
    assert ran.note.startswith("run in one session, since its pieces do not run: ")
    assert bool(np.asarray(ran.values["h"]))


def test_the_reason_comes_from_the_whole(tmp_path: Path) -> None:
    broken = model([node("Relu", ["x"], ["a"]), node("MatMul", ["a", "w0"], ["y"])], [("x", FLOAT, [3, 16])], [("y", FLOAT)], w0=X)
    with pytest.raises(CannotRun, match="MatMul"):
        in_runtime(Subject(saved(broken, tmp_path / "m.onnx"), (tmp_path,)), Setting(), [{"x": X}], ["y"], ("a",))
