"""tract, as measured."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import ARITHMETIC, counting, rows

NAME = "tract"
VERSION = "0.23"
SOURCE = "tract 0.23.9, reduced matrix"

CAUTIONS = Cautions(
    (
        Caution(
            "attribute-ignored",
            "it gives uint8 whatever it says",
            "tract-01",
            SOURCE,
            "measured",
            hint="write a zero point of that type",
            kind="quantize",
            attribute="output_dtype",
        ),
        Caution("codes-not-supported", "", "tract-02", SOURCE, "measured"),
        Caution("real-type-not-supported", "", "tract-02", SOURCE, "measured"),
        Caution("granularity-not-supported", "", "tract-02", SOURCE, "measured"),
        Caution("parameter-not-constant", "it wants constant scales and zero points", "tract-02", SOURCE, "measured"),
    )
)


def versions() -> tuple[str, ...]:
    return (VERSION,)


def profile(version: str | None) -> Profile | None:
    wanted = VERSION if version is None else version
    if counting(versions(), wanted) is None:
        return None
    runtime, both = f"{NAME}@{wanted}", ("ai.onnx", "com.microsoft")
    quantize = rows(runtime, 28, "int8 uint8", kinds=("quantize",), scale="float32", expressed="float32", dialects=both)
    dequantize = rows(runtime, 28, "int8 uint8 int32", kinds=("dequantize",), scale="float32", expressed="float32", dialects=both)
    return Profile(NAME, wanted, (10, 28), rows=(*quantize, *dequantize), source=SOURCE, cautions=CAUTIONS, binding=True, unsaid=ARITHMETIC)
