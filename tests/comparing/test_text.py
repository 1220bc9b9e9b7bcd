"""What people read: where and why first, roundings only where there is nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from qdqtool.check.compare import Comparison as Measured
from qdqtool.check.compare import Difference
from qdqtool.comparison import Cause, Comparison, Place, Run, Verdict
from qdqtool.reports.compare import comparison_text, elsewhere_text

DIFFERENCE = Difference(10, 2, 0.5, 3.0, 0.25, "first at [1]: 1.0 became 1.5")


def place(where: str, cause: Cause, *reasons: str, also: Sequence[str] = ()) -> Place:
    return Place(f"main / {where}", f"main / {where}", where, where, cause, reasons, DIFFERENCE, tuple(also))


def run(verdict: Verdict, *places: Place, second: str = "ort", **more: object) -> Run:
    outputs = (Measured("output y", "different" if places else "equal", DIFFERENCE, value="y"),)
    return Run("ort", second, verdict, outputs, places, compared=7, **more)  # type: ignore[arg-type]


def text(*runs: Run, verbose: bool = False, second: str = "b.onnx") -> str:
    return comparison_text(Comparison(runs), 80, first="a.onnx", second=second, verbose=verbose).plain


def test_where_and_why_come_first() -> None:
    lines = text(run("different", place("conv/w", "different", "scale s: all 8 are 2 x as large"), following=1)).splitlines()
    assert lines[:3] == [
        "a.onnx against b.onnx: different",
        "  first at   main / conv/w",
        "  why        scale s: all 8 are 2 x as large",
    ]
    assert "  after it   1 value inside differs as a consequence" in lines


def test_roundings_beside_something_worse_are_counted() -> None:
    found = run("different", place("conv", "different"), place("pool", "rounding"), place("add", "rounding"))
    assert "  beside     2 places within their rounding (-v lists them)" in text(found)
    assert "main / pool" not in text(found)
    assert "main / pool" in text(found, verbose=True)


def test_roundings_alone_are_shown() -> None:
    shown = text(run("rounding", place("pool", "rounding"), second="openvino"), second="")
    assert shown.startswith(
        "a.onnx, ort against openvino: equal but for rounding\n  first at   main / pool\n  value      pool: 2 of 10 values"
    )


def test_many_places_and_readers_are_cut_short() -> None:
    places = [place(f"n{k}", "different", also=[f"m{i}" for i in range(8)]) for k in range(8)]
    shown = text(run("different", *places))
    assert "and 3 places more (-v lists them)" in shown
    assert "m4 and 3 more" in shown
    assert "unknown: nothing that could be named is different" in shown


def test_each_runtime_has_its_block() -> None:
    shown = text(run("equal"), run("not compared", second="openvino", notes=("it does not run",)))
    assert shown.startswith("a.onnx against b.onnx: equal\n  outputs    1 output, equal\n")
    assert "\n\na.onnx against b.onnx in openvino: not compared\n" in shown
    assert "  note       it does not run" in shown


def test_at_the_end_of_another_report() -> None:
    found = Comparison((run("known fault", place("q", "known fault", "zero point z is odd"), second="openvino"),))
    lines = [line.strip() for line in elsewhere_text(found, 100).plain.splitlines()]
    assert lines == ["in openvino: parted by a known fault of the runtime, first at main / q", "zero point z is odd"]


def test_the_gravest_run_speaks_for_all() -> None:
    found = Comparison((run("equal"), run("fusion", place("l0", "rounding"), place("l1", "fusion"), second="openvino")))
    assert (found.verdict, found.ok) == ("fusion", False)
    assert found.first is not None
    assert found.first.where == "main / l1"
