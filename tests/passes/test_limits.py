"""What is folded of all that could be: patterns, growth, tidying; and that untouched parts stay untouched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto

from qdqtool import api
from qdqtool import dtypes as d
from qdqtool.errors import Usage
from tests.passes.folded import codes, constants, folded, model, node, ops, reals, scales

SIZES = (8, 64, 512)


def many() -> ModelProto:
    """Three weights of int8, and one of int4, each under a name of its own."""
    nodes, held, value = [], {}, "x"
    for i, n in enumerate(SIZES):
        held |= {f"layers.{i}.W": codes(d.INT8, 8, n), f"s{i}": np.float32(0.1)}
        nodes += [node("DequantizeLinear", [f"layers.{i}.W", f"s{i}"], f"w{i}", name=f"dq{i}"), node("MatMul", [value, f"w{i}"], f"m{i}")]
    held |= {"V": codes(d.INT4, 8, 8), "t": np.float32(0.1)}
    nodes += [node("DequantizeLinear", ["V", "t"], "v", name="gate"), node("Gemm", [value, "v"], "m3")]
    nodes.append(node("Concat", [f"m{i}" for i in range(4)], "y", axis=1))
    return model(nodes, held, opset=21)


@pytest.mark.parametrize(
    ("only", "skip", "expected"),
    [
        ((), (), {"w0", "w1", "w2", "v"}),
        (("dq1",), (), {"w1"}),
        (("name:layers.*",), (), {"w0", "w1", "w2"}),
        (("layers.[02].W", "gate"), (), {"w0", "w2", "v"}),
        (("type:int4",), (), {"v"}),
        (("type:int*",), ("type:int4",), {"w0", "w1", "w2"}),
        (("op:MatMul,size:>=512",), (), {"w1", "w2"}),
        (("op:Gemm",), (), {"v"}),
        ((), ("op:*",), set()),
        (("size:<=32",), (), {"v"}),
        (("size:>0.5KiB",), (), {"w2"}),
        (("size:=64B",), (), {"w0"}),
        ((), ("w?",), {"v"}),
    ],
)
def test_patterns(only: tuple[str, ...], skip: tuple[str, ...], expected: set[str]) -> None:
    folding = api.fold(many(), weights=True, only=only, skip=skip, check=False)
    assert {name for name, (kind, _) in constants(folding).items() if kind == "float32" and name[0] in "wv"} == expected


def test_a_pattern_may_stand_alone() -> None:
    alone, listed = (api.fold(many(), weights=True, only=only, check=False) for only in ("type:int4", ["type:int4"]))
    assert [f.where for f in alone.folds] == [f.where for f in listed.folds] == ["main / gate"]
    assert alone.notes == listed.notes == ()


def test_patterns_that_fit_nothing_are_told() -> None:
    folding = api.fold(many(), weights=True, only=["dq1", "type:int9"], skip=["v:0", "op:Gemm"], check=False)
    assert folding.notes == ("--only type:int9 fits nothing that is to be folded", "--skip v:0 fits nothing that is to be folded")
    assert (folding.foldable, folding.limits) == (3, ("--only", "--skip"))


@pytest.mark.parametrize("text", ["foo:bar", "typ:int4", "name:a,tpye:int8"])
def test_unknown_conditions(text: str) -> None:
    with pytest.raises(Usage, match="unknown condition") as error:
        api.fold(many(), skip=text)
    assert error.value.code == "fold-pattern"


@pytest.mark.parametrize("text", ["", "name:", "size:5", "size:>x", "size:>5XB", "size:>" + "9" * 400, "a,,b", "type:"])
def test_patterns_that_are_none(text: str) -> None:
    with pytest.raises(Usage, match=r"selects nothing|no size") as error:
        api.fold(many(), only=[text])
    assert error.value.code == "fold-pattern"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, {"w0", "w1", "w2", "v"}),
        (0, set()),
        (187, set()),
        (188, {"w0"}),
        ("500", {"w0", "v"}),
        ("2KB", {"w0", "v", "w1"}),
        ("10%", {"w0", "v"}),
        ("1GiB", {"w0", "w1", "w2", "v"}),
    ],
)
def test_growth_is_limited_the_least_first(limit: int | str | None, expected: set[str]) -> None:
    proto = many()
    folding = api.fold(proto, weights=True, max_growth=limit, check=False)
    assert {name for name in constants(folding) if name in ("w0", "w1", "w2", "v")} == expected
    assert limit not in (188, "500", "2KB") or folding.bytes[1] - folding.bytes[0] <= {188: 188, "500": 500, "2KB": 2000}[limit]


@pytest.mark.parametrize("limit", [-1, "much", "%", "-3MB", "x%", "inf%", "9" * 400])
def test_growth_that_is_none(limit: int | str) -> None:
    with pytest.raises(Usage) as error:
        api.fold(many(), weights=True, max_growth=limit)
    assert error.value.code == "max-growth"


def test_codes_read_by_one_that_stays_count_as_growth() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], f"w{i}", name=f"dq{i}") for i in range(2)]
    nodes += [node("MatMul", ["x", f"w{i}"], f"m{i}") for i in range(2)]
    proto = model([*nodes, node("Add", ["m0", "m1"], "y")], {"W": codes(d.INT8, 8, 64), "s": np.float32(1)}, opset=13)
    assert api.fold(proto, weights=True, only=["dq0"], max_growth=1600, check=False).folds == ()
    assert len(api.fold(proto, weights=True, max_growth=1600, check=False).folds) == 2


def untidy() -> ModelProto:
    nodes = [
        node("DequantizeLinear", ["W", "s"], "w"),
        node("MatMul", ["x", "w"], "y"),
        node("DequantizeLinear", ["W", "s"], "nobody", name="unread"),
        node("Mul", ["nobody", "k"], "nothing", name="unread too"),
    ]
    return model(nodes, {"W": codes(d.INT8, 8, 4), "s": scales(4), "k": np.float32(1), "left": reals(3)}, opset=13, domains=["com.acme"])


def test_what_was_dead_before_stays() -> None:
    folding = folded(untidy(), weights=True)
    assert ops(folding) == ["MatMul", "Mul"]
    assert set(constants(folding)) == {"w", "k", "left"}


def test_what_was_dead_before_goes_when_asked_for() -> None:
    folding = folded(untidy(), tidy=True)
    assert ops(folding) == ["DequantizeLinear", "MatMul"]
    assert set(constants(folding)) == {"W", "s"}
    assert [o.domain for o in folding.model.opset_import] == [""]
    assert folding.tidied == (
        "node main / unread",
        "node main / unread too",
        "constant k",
        "constant left",
        "the import of com.acme 1, which nothing uses, is gone",
    )


def test_untouched_messages_stay_as_they_are() -> None:
    proto = many()
    proto.metadata_props.add(key="a", value="b")
    proto.graph.node[1].doc_string = "kept"
    folding = api.fold(proto, weights=True, only=["dq0"], check=False)
    kept = [n for n in folding.model.graph.node if n.name != "dq0"]
    assert kept == [n for n in proto.graph.node if n.name != "dq0"]
    assert folding.model.metadata_props == proto.metadata_props


def external(folder: Path) -> Path:
    proto = many()
    onnx.save(proto, folder / "in.onnx", save_as_external_data=True, location="in.data", size_threshold=0)
    return folder / "in.onnx"


def test_a_fold_of_nothing_reads_no_data_and_copies_the_bytes(tmp_path: Path) -> None:
    path = external(tmp_path)
    (tmp_path / "in.data").write_bytes(b"\0" * (tmp_path / "in.data").stat().st_size)
    assert api.fold(path, output=tmp_path / "out.onnx", check=False).folds == ()
    assert (tmp_path / "out.onnx").read_bytes() == path.read_bytes()


def test_progress_and_time(tmp_path: Path) -> None:
    held = {"W": codes(d.INT8, 512, 512), "s": np.float32(0.1)}
    nodes = [node("DequantizeLinear", ["W", "s"], "w", name="dq"), node("MatMul", ["x", "w"], "y")]
    proto = model(nodes, held, {"x": (TensorProto.FLOAT, [1, 512])}, opset=13)
    calls: list[tuple[int, int]] = []
    folding = api.fold(proto, output=tmp_path / "out.onnx", weights=True, check=False, progress=lambda *args: calls.append(args))
    total = calls[-1][1]
    assert calls[-1][0] == total >= 512 * 512 * 4
    assert calls == sorted(calls)
    assert folding.folds[0].seconds > 0
    assert folding.files == (tmp_path / "out.onnx",)


def test_what_would_grow_too_much_may_still_move() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], "w", axis=0), node("Transpose", ["w"], "t"), node("MatMul", ["x", "t"], "y")]
    proto = model(nodes, {"W": codes(d.INT8, 8, 8), "s": scales(8)}, opset=13)
    assert ops(folded(proto, weights=True, move=True, max_growth=10)) == ["DequantizeLinear", "MatMul"]
    assert ops(folded(proto, weights=True, move=True)) == ["MatMul"]
