"""TVM's Relax importer, as measured in its wheel."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import ARITHMETIC, counting, rows, types

NAME = "tvm"
VERSION = "0.27"
SOURCE = "apache-tvm 0.27.0.post1, Relax importer, reduced matrix"
CODES = "int8 uint8 int16 uint16"

CAUTIONS = Cautions(
    (
        Caution("codes-not-supported", "", "tvm-relax-01", SOURCE, "measured"),
        Caution("real-type-not-supported", "", "tvm-relax-01", SOURCE, "measured"),
        Caution("granularity-not-supported", "it says 'not supported yet'", "tvm-relax-01", SOURCE, "measured"),
        Caution("attribute-not-supported", "", "tvm-relax-01", SOURCE, "measured", attribute="precision"),
        Caution(
            "computed-otherwise",
            "16-bit codes saturate at the wrong end",
            "tvm-relax-02",
            SOURCE,
            "measured",
            "warning",
            "a float32 scale",
            kind="quantize",
            storage=types("int16 uint16"),
            scale=types("float16"),
        ),
        Caution(
            "computed-otherwise",
            "they overflow",
            "tvm-relax-02",
            SOURCE,
            "measured",
            "warning",
            "a float32 scale",
            kind="dequantize",
            storage=types("int32"),
            scale=types("float16"),
        ),
    )
)


def versions() -> tuple[str, ...]:
    return (VERSION,)


def profile(version: str | None) -> Profile | None:
    wanted = VERSION if version is None else version
    if counting(versions(), wanted) is None:
        return None
    runtime, both = f"{NAME}@{wanted}", ("ai.onnx", "com.microsoft")
    quantize = rows(runtime, 28, CODES, kinds=("quantize",), dialects=both, precision=False)
    dequantize = rows(runtime, 28, f"{CODES} int32", kinds=("dequantize",), dialects=both)
    return Profile(NAME, wanted, (10, 28), rows=(*quantize, *dequantize), source=SOURCE, cautions=CAUTIONS, binding=True, unsaid=ARITHMETIC)
