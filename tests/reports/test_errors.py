from __future__ import annotations

from dataclasses import dataclass

from qdqtool.check.compare import Comparison
from qdqtool.check.report import Report
from qdqtool.errors import CheckFailed, Refused, Unreadable
from qdqtool.reports import errors


@dataclass(frozen=True)
class Refusal:
    """The fields of a plan's refusal that the report reads."""

    at: str
    code: str
    reasons: tuple[str, ...]
    hint: str = ""
    because: Refusal | None = None


CAST = ("Cast to bfloat16 needs opset 13",)
FIRST = Refusal("main / layers.0/DequantizeLinear", "no-operator", CAST, "--opset 13")
MANY = [Refusal(f"main / layers.{i}/DequantizeLinear", "no-operator", CAST, "--opset 13") for i in range(5)]


def test_an_error_has_where_why_and_hint() -> None:
    error = Unreadable("damaged-model", "the model is cut off", where="a.onnx", why="12 bytes are missing", hint="fetch it again")
    assert errors.text(error, 80).plain == (
        "error: the model is cut off  [damaged-model]\n"
        "  where      a.onnx\n"
        "  why        12 bytes are missing\n"
        "  hint       fetch it again\n"
    )
    assert errors.record(error) == {
        "error": {
            "code": "damaged-model",
            "message": "the model is cut off",
            "where": "a.onnx",
            "why": "12 bytes are missing",
            "hint": "fetch it again",
            "status": 2,
        }
    }


def test_refusals_are_grouped_by_reason() -> None:
    other = Refusal("main / q", "no-type", ("Q has no type int4", "and nothing else holds it"))
    error = Refused("opset 12 cannot express 6 of 212 quantize/dequantize nodes", [*MANY, other])
    assert errors.text(error, 80).plain == (
        "error: opset 12 cannot express 6 of 212 quantize/dequantize nodes  [refused]\n"
        "\n"
        "  why        Cast to bfloat16 needs opset 13\n"
        "  where      main / layers.0/DequantizeLinear\n"
        "             main / layers.1/DequantizeLinear\n"
        "             main / layers.2/DequantizeLinear\n"
        "             and 2 more places (-v lists them)\n"
        "  hint       --opset 13\n"
        "\n"
        "  why        Q has no type int4\n"
        "             and nothing else holds it\n"
        "  where      main / q\n"
    )


def test_verbose_lists_every_place() -> None:
    text = errors.text(Refused("refused", MANY), 80, verbose=True).plain
    assert all(refusal.at in text for refusal in MANY)
    assert "more place" not in text


def test_what_follows_from_another_refusal_is_counted_only() -> None:
    follower = Refusal("main / Transpose", "follows", ("reads what was refused",), because=FIRST)
    error = Refused("refused", [FIRST, follower])
    assert errors.text(error, 80).plain.endswith("             1 more refusal follows from these (-v lists them)\n")
    assert "main / Transpose" in errors.text(error, 80, verbose=True).plain
    assert errors.record(error)["refusals"][1] == {
        "at": "main / Transpose",
        "code": "follows",
        "reasons": ["reads what was refused"],
        "hint": "",
        "because": "main / layers.0/DequantizeLinear",
    }


def test_a_failed_check_says_once_why() -> None:
    report = Report((Comparison("main / mean", "not checked", reason="no kernel"),))
    error = CheckFailed("it could not be completed", report, why="main / mean: not checked, no kernel")
    error.where = "a.onnx"
    text = errors.text(error, 80).plain
    assert text.startswith("error: it could not be completed  [check-failed]\n  where      a.onnx\n  check      not checked (nobody)\n")
    assert text.count("no kernel") == 1
    assert "why: main / mean: not checked, no kernel" in str(error)
    assert errors.record(error)["error"]["why"] == error.why
