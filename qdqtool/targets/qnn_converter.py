"""Qualcomm's own model converter, from its documentation; it was not run. ONNX Runtime's QNN provider is ``qnn``."""

from __future__ import annotations

from qdqtool.capabilities import rows as every_row
from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import rows

NAME = "qnn-converter"
SOURCE = "docs.qualcomm.com 80-63442-10 supported_onnx_ops"
NEWEST = 24
RULES = ("opset-out-of-reach", "real-type-not-supported")


def versions() -> tuple[str, ...]:
    return ()


def profile(version: str | None) -> Profile | None:
    if version is not None:
        return None
    storage = " ".join(sorted({t.name for row in every_row() for t in row.storage}))
    dequantize = rows(NAME, NEWEST, storage, kinds=("dequantize",), expressed="float32", scale="float32", blocks=True)
    quantize = [r for r in every_row() if r.kind == "quantize" and r.dialect == "ai.onnx" and r.version <= NEWEST]
    cautions = Cautions(Caution(rule, "", "qnn-converter-01", SOURCE, "docs") for rule in RULES)
    return Profile(NAME, "", (7, NEWEST), rows=(*quantize, *dequantize), source=SOURCE, cautions=cautions, converts=False)
