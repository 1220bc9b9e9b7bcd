from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from onnx import ModelProto

from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.folding import Fold, Folding
from qdqtool.model.load import Loaded
from qdqtool.reports.fold import folding_text, seconds
from qdqtool.result import Result

WEIGHTS = Fold("main / a", "weights", "int4 to float32, per tensor", Exactness.BIT_EQUAL, NO_BOUND, (1, 0), (1500, 12000))


def text(*folds: Fold, width: int = 80, verbose: bool = False, written: Path | None = None, **fields: object) -> str:
    folding = Folding(
        21, (10, 10), folds, (9, 9 - len(folds)), (4000, 14500), 2, Result(ModelProto(), Loaded(ModelProto(), None, None), {})
    )
    for name, value in fields.items():
        setattr(folding, name, value)
    return folding_text(folding, width, source="m.onnx", written=written, unchecked="--no-check", verbose=verbose).plain


def test_folds_of_one_form_are_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("o").write_bytes(b"1234")
    assert text(WEIGHTS, replace(WEIGHTS, where="main / b"), notes=("ir_version 9 became 10",), written=Path("o")) == (
        "m.onnx: nodes 9 to 7, constants 4.0 kB to 14.5 kB\n"
        "\n"
        "  2 x        int4 to float32, per tensor\n"
        "             dequantized; bit-equal\n"
        "             nodes 2 to 0, constants 3.0 kB to 24.0 kB\n"
        "\n"
        "  kept       2 quantize/dequantize nodes\n"
        "  notes      ir_version 9 became 10\n"
        "  check      not checked: --no-check\n"
        "  written    o, 4 B\n"
    )


def test_nothing_to_fold() -> None:
    assert text().startswith("m.onnx: 9 nodes, constants 4.0 kB\n  folded     nothing\n  kept       2 quantize/dequantize nodes\n")


def test_what_could_be_folded_is_said() -> None:
    assert "  kept       2 quantize/dequantize nodes, of which --weights could fold 1\n" in text(foldable=1)


def test_what_was_held_back_is_said() -> None:
    held = text(foldable=1, weights=True, limits=("--only", "--max-growth"))
    assert "  kept       2 quantize/dequantize nodes, 1 of them held back by --only or" in held
    assert "--weights could" not in held + text(foldable=1, weights=True)


def test_kind_class_and_bound_part_groups() -> None:
    near = replace(WEIGHTS, kind="pairs", exactness=Exactness.APPROXIMATE, bound=Bound(steps=2))
    assert "cancelled; approximate (within 2 steps)" in text(near, WEIGHTS)
    assert text(near, WEIGHTS).count("1 x  ") == 2


def test_verbose_names_each_node_with_its_bytes() -> None:
    assert "    node      before    after\n    main / a  1.5 kB  12.0 kB\n" in text(WEIGHTS, verbose=True)
    assert "main / a" not in text(WEIGHTS)


def test_times_are_told_when_they_are_long() -> None:
    slow = replace(WEIGHTS, seconds=1.5, bytes=(1_000_000, 3_000_000_000))
    assert "  time       planning 12 ms, computing 1.5 s, 2.0 GB/s\n" in text(slow, seconds=0.012)
    assert "main / a  1.0 MB  3.0 GB  1.5 s\n" in text(slow, verbose=True)
    assert "time" not in text(replace(WEIGHTS, seconds=0.2), seconds=0.5, verbose=True)


@pytest.mark.parametrize(("number", "said"), [(0.0123, "12 ms"), (0.9994, "999 ms"), (0.9996, "1.0 s"), (75.04, "75.0 s")])
def test_seconds(number: float, said: str) -> None:
    assert seconds(number) == said


def test_what_was_tidied_is_listed_up_to_three() -> None:
    tidied = tuple(f"node {n}" for n in "abcd")
    assert "  tidied     node a\n             node b\n             node c\n             and 1 more (-v lists them)\n" in text(tidied=tidied)
    assert "             node d\n" in text(tidied=tidied, verbose=True)


def test_a_dry_run_writes_nothing() -> None:
    assert text(WEIGHTS).endswith("  check      not checked: --no-check\n  written    nothing: this is a dry run\n")
