"""DirectML, from its operator pages; it was not run. The version is the feature level."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import ARITHMETIC, counting, rows

NAME = "directml"
SOURCE = "learn.microsoft.com DML operator pages"
NEWEST = 28
VERSIONS = ("5.0", "6.2", "6.3")
SMALL = " int4 uint4"

TYPES = (
    Caution("codes-not-supported", "", "directml-01", SOURCE, "docs", kind="quantize"),
    Caution("codes-not-supported", "", "directml-02", SOURCE, "docs", hint="4-bit codes need feature level 6.3", kind="dequantize"),
    Caution("scale-not-positive", "its result is undefined for a scale of 0", "directml-01", SOURCE, "docs", numbers={"zero": (1,)}),
    Caution("rank-too-high", "it takes up to 8 dimensions", "directml-01", SOURCE, "docs", numbers={"rank": (8,)}),
)
NEEDED = Caution("zero-point-missing", "it wants one below feature level 6.2", "directml-01", SOURCE, "docs", hint="write the zero point")


def versions() -> tuple[str, ...]:
    return VERSIONS


def profile(version: str | None) -> Profile | None:
    wanted = VERSIONS[-1] if version is None else version
    known = counting(VERSIONS, wanted)
    if known is None:
        return None
    runtime, both = f"{NAME}@{wanted}", ("ai.onnx", "com.microsoft")
    small = SMALL if known == "6.3" else ""
    quantize = rows(
        runtime, NEWEST, f"int8 uint8{small}", kinds=("quantize",), expressed="float32 float16 int32", dialects=both, blocks=True
    )
    wide = f"int8 uint8 int16 uint16 int32{small}"
    dequantize = rows(runtime, NEWEST, wide, kinds=("dequantize",), dialects=both, linked=True, blocks=True)
    cautions = Cautions(TYPES if known != "5.0" else (*TYPES, NEEDED))
    return Profile(
        NAME, wanted, (7, NEWEST), rows=(*quantize, *dequantize), source=SOURCE, cautions=cautions, binding=True, unsaid=ARITHMETIC
    )
