"""onnx-mlir, of which only the opset limit is known here, from its documentation."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile

NAME = "onnx-mlir"
SOURCE = "github.com/onnx/onnx-mlir docs/SupportedONNXOps-cpu.md"


def versions() -> tuple[str, ...]:
    return ()


def profile(version: str | None) -> Profile | None:
    cautions = Cautions((Caution("opset-out-of-reach", "", "onnx-mlir-01", SOURCE, "docs"),))
    return Profile(NAME, "", (7, 21), source=SOURCE, cautions=cautions, converts=False) if version is None else None
