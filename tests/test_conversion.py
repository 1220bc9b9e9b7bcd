from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, helper

import qdqtool
from qdqtool import delivery, dtypes
from qdqtool.errors import Usage
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed
from tests.plan.graphs import INT4, TENTH, initializers, model, ops

BLOCKS = np.float32([[0.5, 1], [2, 4]])
BLOCKED = "g (float[2,8] x) => (float[2,8] y) { w2 = DequantizeLinear <axis: int = 1, block_size: int = 4> (w, s) y = Add(w2, x) }"


def blocked() -> ModelProto:
    return model(BLOCKED, w=INT4, s=BLOCKS)


def refused() -> ModelProto:
    return model("g (int4[2,8] q) => (float[2,8] y) { y = DequantizeLinear(q, s) }", s=TENTH)


def stored(proto: ModelProto, path: Path) -> Path:
    path.write_bytes(proto.SerializeToString())
    return path


def names(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_the_argument_is_not_changed() -> None:
    proto = blocked()
    before = proto.SerializeToString(deterministic=True)
    result = qdqtool.convert(proto, opset=13)
    assert proto.SerializeToString(deterministic=True) == before
    assert result.model is not proto


def test_in_place_changes_the_argument() -> None:
    proto = blocked()
    result = qdqtool.convert(proto, opset=13, in_place=True)
    assert result.model is proto
    assert proto.opset_import[0].version == 13


def test_a_refusal_leaves_an_argument_in_place_as_it_was() -> None:
    proto = refused()
    before = proto.SerializeToString(deterministic=True)
    with pytest.raises(qdqtool.Refused):
        qdqtool.convert(proto, opset=13, in_place=True)
    assert proto.SerializeToString(deterministic=True) == before


def test_what_a_conversion_tells() -> None:
    result = qdqtool.convert(blocked(), opset=13)
    assert (result.source_opset, result.target_opset, result.kept) == (21, 13, 0)
    (change,) = result.changes
    assert change.where == "main / n0"
    assert change.what == "int4 to float32, blocks of 4 along axis 1, float32 scale"
    assert change.how == ("rows-per-block", "widen")
    assert (change.exactness, bool(change.bound), change.nodes) == (Exactness.BIT_EQUAL, False, (1, 2))
    assert change.bytes[0] == 8 + 16
    assert result.check is not None
    assert result.check.verdict == "equal"


def test_it_can_be_told_as_json() -> None:
    told = json.loads(json.dumps(qdqtool.convert(blocked(), opset=13).to_dict()))
    assert told["changes"][0]["how"] == ["rows-per-block", "widen"]
    assert told["check"]["verdict"] == "equal"
    assert (told["source_opset"], told["target_opset"], told["kept"]) == (21, 13, 0)


def test_the_model_has_its_data() -> None:
    proto = model("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", w=np.resize(INT4, (200, 200)), s=TENTH)
    result = qdqtool.convert(proto, opset=13)
    for _ in range(2):
        assert initializers(result.model)["w_int8"].tolist() == np.resize(np.arange(-8, 8), (200, 200)).tolist()


def test_saving_before_and_after_looking_gives_the_same_bytes(tmp_path: Path) -> None:
    proto = model("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", w=np.resize(INT4, (200, 200)), s=TENTH)
    result = qdqtool.convert(proto, opset=13)
    first = result.save(tmp_path / "a.onnx").read_bytes()
    assert result.model.graph.initializer
    assert result.save(tmp_path / "b.onnx").read_bytes() == first
    assert qdqtool.convert(proto, opset=13).save(tmp_path / "c.onnx").read_bytes() == first


def test_converting_again_changes_nothing(tmp_path: Path) -> None:
    first = qdqtool.convert(blocked(), opset=13, output=tmp_path / "a.onnx")
    again = qdqtool.convert(tmp_path / "a.onnx", opset=13, output=tmp_path / "b.onnx")
    assert again.changes == ()
    assert again.kept == 1
    assert (tmp_path / "b.onnx").read_bytes() == (tmp_path / "a.onnx").read_bytes()
    assert first.model.SerializeToString(deterministic=True) == again.model.SerializeToString(deterministic=True)


def test_a_model_already_there_keeps_its_bytes(tmp_path: Path) -> None:
    raw = blocked().SerializeToString() + b"\xaa\x06\x03abc"
    (tmp_path / "in.onnx").write_bytes(raw)
    qdqtool.convert(tmp_path / "in.onnx", opset=21, output=tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == raw


def test_an_output_appears_after_the_check_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, seen = tmp_path / "out.onnx", []
    original = delivery.check
    monkeypatch.setattr(delivery, "check", lambda *args, **kwargs: seen.append(out.exists()) or original(*args, **kwargs))
    qdqtool.convert(stored(blocked(), tmp_path / "in.onnx"), opset=13, output=out)
    assert seen == [False]
    assert names(tmp_path) == ["in.onnx", "out.onnx"]


@pytest.mark.parametrize("there", [False, True])
def test_a_failed_check_leaves_everything_as_it_was(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from qdqtool.lowerings import widen

    out = tmp_path / "out.onnx"
    if there:
        out.write_bytes(b"old")
    source = stored(blocked(), tmp_path / "in.onnx")
    before = names(tmp_path)
    monkeypatch.setattr(widen, "cast", lambda x, to: Computed("times", (x,), (1, to), to, x.shape))
    with pytest.raises(qdqtool.CheckFailed) as caught:
        qdqtool.convert(source, opset=13, output=out)
    assert caught.value.report.verdict == "different"
    assert caught.value.status == 3
    assert names(tmp_path) == before
    assert not there or out.read_bytes() == b"old"


@pytest.mark.parametrize("there", [False, True])
def test_a_refusal_writes_nothing(there: bool, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    if there:
        out.write_bytes(b"old")
    source = stored(refused(), tmp_path / "in.onnx")
    before = names(tmp_path)
    with pytest.raises(qdqtool.Refused) as caught:
        qdqtool.convert(source, opset=13, output=out)
    (reason, *_) = caught.value.reasons
    assert reason.at == "main / n0 (int4 to float32, per tensor, float32 scale)"
    assert reason.code == "type-at-border"
    assert reason.hint == "--opset 21"
    assert "graph input q, so its codes must stay int4" in reason.reasons
    assert "opset 13 cannot express 1 of 1 quantize/dequantize nodes" in str(caught.value)
    assert caught.value.where == str(source)
    assert names(tmp_path) == before
    assert not there or out.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "no-target"),
        ({"opset": 6}, "unknown-opset"),
        ({"opset": 99}, "unknown-opset"),
        ({"to": "nonsense"}, "unknown-dialect"),
    ],
)
def test_requests_that_make_no_sense(options: dict[str, Any], code: str) -> None:
    with pytest.raises(Usage) as caught:
        qdqtool.convert(blocked(), **options)
    assert caught.value.code == code
    assert caught.value.status == 2
    assert caught.value.hint


def test_an_opset_that_is_no_target_is_the_models_own_where_none_was_asked_for(tmp_path: Path) -> None:
    source = stored(model("g (float[2] x) => (float[2] y) { y = Neg(x) }", opset=4), tmp_path / "old.onnx")
    with pytest.raises(Usage, match="the model imports opset 4, which is no target") as caught:
        qdqtool.convert(source, to="ai.onnx")
    assert (caught.value.where, caught.value.hint) == (str(source), "say --opset N, for example --opset 7")


def test_a_refusal_of_a_model_in_memory_names_no_file() -> None:
    with pytest.raises(qdqtool.Refused) as caught:
        qdqtool.convert(refused(), opset=13)
    assert caught.value.where == ""


def test_without_a_check_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "check", lambda *args, **kwargs: pytest.fail("the check ran"))
    assert qdqtool.convert(blocked(), opset=13, check=False).check is None


def unrunnable() -> ModelProto:
    return model(
        "g (float[2,8] x) => (float[2,8] y) { a = my.Op(x) w2 = DequantizeLinear(w, s) y = Add(a, w2) }", domains={"my": 1}, w=INT4, s=TENTH
    )


def test_a_model_that_cannot_run_is_checked_step_by_step() -> None:
    report = qdqtool.convert(unrunnable(), opset=13).check
    assert report is not None
    assert report.verdict == "equal"
    assert not report.complete
    assert report.reason


def test_a_required_check_that_cannot_be_completed_fails(tmp_path: Path) -> None:
    source = stored(unrunnable(), tmp_path / "in.onnx")
    with pytest.raises(qdqtool.CheckFailed, match="could not be completed") as caught:
        qdqtool.convert(source, opset=13, require_check=True, output=tmp_path / "out.onnx")
    assert caught.value.where == str(source)
    assert "my.Op" in caught.value.why or "my:Op" in caught.value.why
    assert names(tmp_path) == ["in.onnx"]


CALLED = """g (float[2,8] x, float[4] v) => (y, u) { CALLS }
<domain: "local", opset_import: ["": 21]>
half (a, s, z) => (b) { q = QuantizeLinear(a, s, z) b = DequantizeLinear(q, s, z) }"""


def called(calls: str, **constants: Any) -> ModelProto:
    return model(CALLED.replace("CALLS", calls), domains={"local": 1}, **constants)


def test_a_function_that_means_one_thing_stays() -> None:
    zero = np.zeros((), dtypes.INT8.numpy)
    result = qdqtool.convert(called("y = local.half(x, s, z) u = Neg(v)", s=TENTH, z=zero), opset=13)
    assert [f.name for f in result.model.functions] == ["half"]
    assert not any("inlined" in note for note in result.notes)


def test_a_function_whose_calls_decide_is_inlined_and_told() -> None:
    zeros = {"z": np.zeros((), dtypes.INT4.numpy), "k": np.int8(3)}
    result = qdqtool.convert(called("y = local.half(x, s, z) u = local.half(v, s, k)", s=TENTH, **zeros), opset=13)
    assert not result.model.functions
    assert any("inlined" in note and "half" in note for note in result.notes)
    assert result.check is not None
    assert result.check.verdict == "equal"


def test_functions_are_inlined_however_deep() -> None:
    """At opset 7 a function cannot hold int8 constants; each inlining puts them into the next function."""
    head = '<domain: "local", opset_import: ["": 21, "local": 1]>\n'
    inner = f"{head}f0 (a, s) => (b) {{ w = Constant <value = int8[2] {{3, -4}}> () d = DequantizeLinear(w, s) b = Add(a, d) }}\n"
    outer = [f"{head}f{i} (a, s) => (b) {{ b = local.f{i - 1}(a, s) }}\n" for i in range(1, 12)]
    text = f"g (float[2] x) => (float[2] y) {{ y = local.f11(x, s) }}\n{inner}{''.join(outer)}"
    result = qdqtool.convert(model(text, domains={"local": 1}, s=TENTH), opset=7)
    assert result.check is not None
    assert result.check.verdict == "equal"


def test_a_refusal_counts_steps_apart_from_other_nodes() -> None:
    text = "g (int4[2,8] q) => (float[8,2] y) { t = Transpose(q) y = DequantizeLinear(t, s) }"
    with pytest.raises(qdqtool.Refused, match="1 of 1 quantize/dequantize nodes and 1 other node") as caught:
        qdqtool.convert(model(text, s=TENTH), opset=13)
    assert all(reason.hint == "--opset 21" for reason in caught.value.reasons)


def test_exact_refuses_what_is_not_value_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    from qdqtool.lowerings import widen

    original = widen.say
    monkeypatch.setattr(widen, "say", lambda step, context: (_rounding(said) for said in original(step, context)))
    assert qdqtool.convert(blocked(), opset=13).changes[0].exactness is Exactness.BIT_EQUAL
    monkeypatch.setattr("qdqtool.plan.legalize.all_lowerings", lambda: (widen,))
    plain = model("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", w=INT4, s=TENTH)
    assert qdqtool.convert(plain, opset=13).changes[0].exactness is Exactness.ROUNDING
    with pytest.raises(qdqtool.Refused, match="only an equal up to rounding form exists"):
        qdqtool.convert(plain, opset=13, exact=True)


def _rounding(said: Any) -> Any:
    from qdqtool.lowerings import Said

    return Said(said.expr, Exactness.ROUNDING)


def test_fewest_nodes_or_fewest_bytes() -> None:
    proto = model("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", w=np.arange(64, dtype=np.int16), s=TENTH)
    few_bytes, few_nodes = (qdqtool.convert(proto, opset=13, prefer=p) for p in ("bytes", "nodes"))  # type: ignore[arg-type]
    assert few_bytes.changes[0].bytes[1] < few_nodes.changes[0].bytes[1]
    assert few_bytes.changes[0].nodes[1] > few_nodes.changes[0].nodes[1]


def test_dialects() -> None:
    proto = model(
        "g (float[2,8] x) => (float[2,8] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", s=TENTH, z=np.int16(3)
    )
    there = qdqtool.convert(proto, to="com.microsoft")
    assert [n.domain for n in there.model.graph.node] == ["com.microsoft"] * 2
    back = qdqtool.convert(there.model, to="ai.onnx")
    assert [n.domain for n in back.model.graph.node] == ["", ""]
    assert ops(qdqtool.convert(there.model, opset=13).model) == ["QuantizeLinear", "DequantizeLinear"]


def test_external_data_is_left_where_it_is(tmp_path: Path) -> None:
    proto = model("g (float[400,400] x) => (float[400,400] y) { y = Add(x, big) }", big=np.ones((400, 400), np.float32))
    onnx.save(proto, tmp_path / "in.onnx", save_as_external_data=True, location="data.bin", size_threshold=0)
    qdqtool.convert(tmp_path / "in.onnx", opset=13, output=tmp_path / "out.onnx")
    assert names(tmp_path) == ["data.bin", "in.onnx", "out.onnx"]
    result = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    assert helper.tensor_dtype_to_np_dtype(result.graph.initializer[0].data_type) == np.float32
    assert {e.key: e.value for e in result.graph.initializer[0].external_data}["location"] == "data.bin"


def test_nothing_is_left_in_the_data_s_folder_after_a_check(tmp_path: Path) -> None:
    proto = model("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", w=np.resize(INT4, (64, 64)), s=TENTH)
    onnx.save(proto, tmp_path / "in.onnx", save_as_external_data=True, location="data.bin", size_threshold=0)
    qdqtool.convert(onnx.load(tmp_path / "in.onnx", load_external_data=False), opset=13, base_dir=tmp_path)
    assert names(tmp_path) == ["data.bin", "in.onnx"]


def test_a_model_in_a_file_needs_no_copy(tmp_path: Path) -> None:
    path = stored(blocked(), tmp_path / "in.onnx")
    before = path.read_bytes()
    assert qdqtool.convert(path, opset=13).model.opset_import[0].version == 13
    assert path.read_bytes() == before
