from __future__ import annotations

from qdqtool.check.compare import Comparison, Difference
from qdqtool.check.report import Report
from qdqtool.reports.check import check_text

STEP = Comparison("main / w/DequantizeLinear", "equal", Difference(3072), "ONNX Runtime")
OUTPUT = Comparison("y", "equal", Difference(48), "ONNX Runtime")
WRONG = Comparison("main / v/DequantizeLinear", "different", Difference(8, 2, 0.5, 4, 0.1, "first at [0]: 1 became 1.5"), "ONNX Runtime")


def test_all_equal() -> None:
    assert check_text(Report((STEP, STEP), (OUTPUT,)), 80).plain == (
        "  check      equal (ONNX Runtime)\n             2 rewritten steps equal\n             1 output of the whole model equal\n"
    )


def test_a_difference_is_shown() -> None:
    assert check_text(Report((STEP, WRONG), (OUTPUT,), notes=("slices of w only",)), 80).plain == (
        "  check      different (ONNX Runtime)\n"
        "             2 rewritten steps: 1 equal, 1 different\n"
        "             1 output of the whole model equal\n"
        "             main / v/DequantizeLinear: different, 2 of 8 values differ (at most\n"
        "             0.5, 4 ulps, 0.1 of the output's maximum); first at [0]: 1 became\n"
        "             1.5\n"
        "             slices of w only\n"
    )


def test_many_differences_are_cut_unless_verbose() -> None:
    report = Report((WRONG,) * 9)
    assert check_text(report, 80).plain.endswith("and 4 more (-v lists them)\n")
    assert check_text(report, 80, verbose=True).plain.count("main / v/DequantizeLinear") == 9


def test_the_judge_and_what_was_not_checked_are_named() -> None:
    step = Comparison("main / w", "equal", Difference(8), "evaluator only")
    text = check_text(Report((step,), reason="ONNX Runtime has no kernel for DequantizeLinear 28"), 80).plain
    assert text == (
        "  check      equal (evaluator only)\n"
        "             1 rewritten step equal\n"
        "             not checked at model level: ONNX Runtime has no kernel for\n"
        "             DequantizeLinear 28\n"
    )


def test_nothing_compared() -> None:
    assert "not checked" in check_text(Report(reason="no inputs fit"), 80).plain


def test_the_first_step_that_was_not_checked_says_why() -> None:
    unchecked = Comparison("main / mean", "not checked", reason="ONNX Runtime: no kernel")
    assert "             main / mean: not checked, ONNX Runtime: no kernel\n" in check_text(Report((STEP, unchecked), (OUTPUT,)), 80).plain
    several = Report((STEP, unchecked, unchecked, unchecked), (OUTPUT,))
    assert "no kernel; 2 more (-v lists\n             them)\n" in check_text(several, 80).plain
    assert check_text(several, 80, verbose=True).plain.count("no kernel") == 3
