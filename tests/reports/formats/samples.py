"""A validation with one of everything that a format has to write."""

from __future__ import annotations

from qdqtool.errors import Unreadable
from qdqtool.findings import Finding
from qdqtool.linting.baseline import Known
from qdqtool.rules.descriptions import Description
from qdqtool.validation import Validation

ODD = 'models/a b/50%, "é" <new>:\x00.onnx'
RULE = Description("QDQ203", "scale-not-finite", "error", "values", "A scale is NaN.", "A scale is NaN.\n\n**Bad**: ``nan``")
HIDDEN = Description("QDQ301", "pair-differs", "warning", "patterns", "A pair differs.", "A pair differs.")


def finding(message: str = "scale 's' [4] has 1 NaN", **changed: str) -> Finding:
    """An error in a well-named model, or what else is asked for."""
    values = {"code": "QDQ203", "rule": "scale-not-finite", "severity": "error", "file": "m.onnx", "at": "main / a.DequantizeLinear"}
    return Finding(message=message, **({"about": "s", "hint": "calibrate again", "path": "models/m.onnx"} | values | changed))  # type: ignore[arg-type]


VALIDATION = Validation(
    "ort@1.32",
    "error",
    ("m.onnx", ODD, "clean.onnx", "text.onnx"),
    findings=(
        finding(),
        finding("two\nlines, 100 %: <&>]]>\x01", file=ODD, path=ODD, at="function f / x / y", severity="warning"),
        finding("the model has no opset", at="", about="", hint="", severity="info"),
    ),
    suppressed=(finding("silenced", about="t", code="QDQ301", rule="pair-differs"),),
    known=(finding("known", about="u"),),
    stale=(Known("0" * 16, "QDQ203", "m.onnx", "main"),),
    errors={"text.onnx": Unreadable("not-a-model", "text.onnx is no ONNX model", why="its bytes are text", hint="name an .onnx file")},
    rules=(RULE, HIDDEN),
)
EMPTY = Validation("ort@1.32", "error", ("",))
