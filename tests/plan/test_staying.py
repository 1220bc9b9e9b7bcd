"""What is said of steps that a dialect that was asked for cannot say, and of dialects that have nothing to fuse."""

from __future__ import annotations

from pathlib import Path

import pytest

import qdqtool

FEW = "com.microsoft DequantizeLinear-1 has no"


@pytest.mark.parametrize(
    ("fixture", "to", "notes"),
    [
        ("int4_blocked_21", "com.microsoft", (f"2 steps stay ai.onnx, not com.microsoft: {FEW} blocks",)),
        ("opset_13", "com.microsoft", ()),
        ("com_microsoft_17", "com.microsoft", ()),
        (
            "int4_blocked_21",
            "qoperator,fakequantize",
            (
                "nothing is fused as qoperator: no quantized pattern for it ends in QuantizeLinear or Gemm",
                "nothing is fused as fakequantize: no quantized pattern for it ends in DequantizeLinear",
            ),
        ),
        ("int4_blocked_21", "matmulnbits", ()),
        ("int4_blocked_21", "qdq", ()),
        ("int4_blocked_21", "ai.onnx", ()),
    ],
)
def test_notes(fixtures: Path, fixture: str, to: str, notes: tuple[str, ...]) -> None:
    assert qdqtool.convert(fixtures / f"{fixture}.onnx", to=to, check=False).notes == notes


def test_a_model_that_holds_the_operators_has_a_pattern(fixtures: Path) -> None:
    fused = qdqtool.convert(fixtures / "int4_blocked_21.onnx", to="matmulnbits", check=False).model
    assert qdqtool.convert(fused, to="matmulnbits", check=False).notes == ()
