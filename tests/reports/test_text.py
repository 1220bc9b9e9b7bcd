from __future__ import annotations

from pathlib import Path

import pytest

from qdqtool.changes import Change
from qdqtool.conversion import Conversion
from qdqtool.exactness import Bound, Exactness
from qdqtool.reports.text import conversion_text

INT4 = "int4 to float32, blocks of 32 along axis 0, float32 scale"


def change(
    where: str, *, exactness: Exactness = Exactness.BIT_EQUAL, bound: Bound | None = None, how: tuple[str, ...] = ("widen",)
) -> Change:
    return Change(where, INT4, how, exactness, bound or Bound(), (1, 3), (1500, 3000))


def text(*changes: Change, kept: int = 0, notes: tuple[str, ...] = (), verbose: bool = False, written: Path | None = None) -> str:
    conversion = Conversion(21, 13, (10, 7), changes, notes, kept)
    return conversion_text(conversion, 80, source="m.onnx", written=written, unchecked="--no-check", verbose=verbose).plain


def test_changes_of_one_form_are_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("o").write_bytes(b"1234")
    assert text(change("main / a"), change("main / b"), kept=2, notes=("ir_version 10 became 7",), written=Path("o")) == (
        "m.onnx: opset 21 to 13\n"
        "\n"
        f"  2 x        {INT4}\n"
        "             by widen; bit-equal\n"
        "             nodes 2 to 6, constants 3.0 kB to 6.0 kB\n"
        "\n"
        "  kept       2 quantize/dequantize nodes\n"
        "  notes      ir_version 10 became 7\n"
        "  check      not checked: --no-check\n"
        "  written    o, 4 B\n"
    )


def test_verbose_names_each_place() -> None:
    said = text(change("main / a"), change("main / b"), verbose=True)
    assert "             main / a\n             main / b\n" in said
    assert "main / a" not in text(change("main / a"))


def test_class_and_bound_are_shown() -> None:
    rounded = change("main / a", exactness=Exactness.ROUNDING, bound=Bound(ulps=1))
    assert "             by widen; equal up to rounding (within 1 ulps)\n" in text(rounded)
    assert text(rounded, change("main / b")).count("1 x  ") == 2


def test_a_new_spelling_is_no_lowering() -> None:
    same = Change("main / a", INT4, (), Exactness.BIT_EQUAL, Bound(), (1, 1), (8, 8))
    assert f"  1 x        {INT4}\n             respelled; bit-equal\n\n" in text(same)


def test_a_dry_run_writes_nothing() -> None:
    assert text().endswith("  changed    no node\n  check      not checked: --no-check\n  written    nothing: this is a dry run\n")
