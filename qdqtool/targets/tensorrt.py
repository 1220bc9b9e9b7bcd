"""TensorRT's ONNX parser, from its documentation and source; it was not run.

Versions are those at which the sources differ; one between two of them counts as the lower one.
"""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, at_version
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import CODED, COMPILED, counting, rows, types

NAME = "tensorrt"

DOCS = "onnx-tensorrt docs/operators.md"
OLD = "onnx-tensorrt 10.1 onnxOpImporters.cpp"
NEW = "onnx-tensorrt onnxOpImporters.cpp, newer version (release after 10.1, not dated)"
BOTH = f"{OLD}; {NEW}"

LIMITS: dict[str, tuple[tuple[int, int], str, str]] = {
    "8.4": ((7, 13), "int8", DOCS),
    "8.5": ((7, 17), "int8", DOCS),
    "9.0": ((7, 19), "int8 float8e4m3fn", f"{DOCS} (9.2) and docs/Changelog.md"),
    "10.0": ((9, 20), "int8 float8e4m3fn int4", f"{DOCS} and docs/Changelog.md"),
    "10.15": ((9, 24), "int8 float8e4m3fn int4 float4e2m1", f"{DOCS}; {NEW}"),
    "11.0": ((9, 25), "int8 float8e4m3fn int4 float4e2m1", "docs.nvidia.com onnx-opset-guide"),
}
"""Opsets, storage types and source by version."""

PLUGINS = ("TRT_FP4DynamicQuantize", "TRT_MXFP8QuantizeLinear", "TRT_MXFP8DequantizeLinear", "TRT_MXFP8DynamicQuantize")
TRT = {"trt": dict.fromkeys(("QuantizeLinear", "DequantizeLinear", *PLUGINS), 3)}
PLAIN = {"trt": dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), 3)}
OWN = {
    "8.4": {},
    "8.5": {},
    "9.0": {},
    "10.0": PLAIN,
    "10.15": TRT,
    "11.0": TRT,
}

NEWEST = 25
"""The parser reads nodes alike at every opset that it loads."""

SYMMETRIC = "subtract the zero point from the codes (uint8 with zero point 128 becomes int8 with 0)"

CAUTIONS = (
    Caution("opset-out-of-reach", "", "tensorrt-01", f"{DOCS}; docs.nvidia.com onnx-opset-guide", "docs"),
    Caution("zero-point-not-zero", "it is symmetric only", "tensorrt-02", BOTH, "source", hint=SYMMETRIC),
    Caution("codes-not-supported", "", "tensorrt-03", NEW, "source"),
    Caution(
        "codes-not-supported",
        "it reads them as int8, so those above 127 change (a DLA parser flag makes it read real uint8)",
        "tensorrt-04",
        NEW,
        "source",
        hint=SYMMETRIC,
        storage=types("uint8"),
        first="10.15",
    ),
    Caution("scale-not-positive", "it wants every constant scale above 0", "tensorrt-05", OLD, "source"),
    Caution(
        "zero-point-missing",
        "it gives int8 then, ONNX uint8",
        "tensorrt-06",
        OLD,
        "source",
        hint="write the zero point, an int8 0",
        kind="quantize",
        storage=types("uint8"),
    ),
    Caution(
        "axis-not-written",
        "it takes axis 0",
        "tensorrt-07",
        OLD,
        "source",
        "warning",
        "write the axis",
        last="10.0",
        numbers={"axis": (0,)},
    ),
    Caution(
        "activation-not-per-tensor",
        "per axis is for weights there",
        "tensorrt-08",
        OLD,
        "source",
        role="activation",
        spread=("axis", "blocks"),
    ),
    Caution(
        "block-does-not-fit",
        "it takes whole blocks along the last dimension or the one before",
        "tensorrt-09",
        f"{OLD}; IDequantizeLayer docs",
        "source",
        numbers={"divides": (1,), "from_end": (1, 2)},
    ),
    Caution(
        "odd-number-of-codes",
        "the last dimension must be even",
        "tensorrt-10",
        OLD,
        "source",
        storage=types("int4"),
        numbers={"last": (1,)},
        last="10.0",
    ),
    Caution(
        "odd-number-of-codes", "their number must be even", "tensorrt-10", NEW, "source", storage=types("int4 float4e2m1"), first="10.15"
    ),
    Caution(
        "codes-not-supported",
        "4-bit integers are for weights there",
        "tensorrt-10",
        "docs.nvidia.com quantized types",
        "docs",
        storage=types("int4"),
        role="activation",
    ),
    Caution(
        "block-does-not-fit",
        "it takes float4e2m1 in blocks of 16, with float8e4m3fn scales that have a scale of their own",
        "tensorrt-11",
        NEW,
        "source",
        storage=types("float4e2m1"),
        numbers={"sizes": (16,)},
        first="10.15",
    ),
    Caution(
        "attribute-ignored", "it ignores it, with a warning", "tensorrt-12", NEW, "source", "warning", attribute="precision", first="10.15"
    ),
    Caution(
        "operator-without-kernel",
        "it imports no such operator",
        "tensorrt-13",
        f"{DOCS} (8.4-10.1)",
        "docs",
        hint="write it as quantize/dequantize nodes around the plain operator",
        ops=frozenset(("DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul", "MatMulInteger", "ConvInteger")),
    ),
    Caution(
        "codes-read-by-operator",
        "it wants a DequantizeLinear between constant codes and their consumer",
        "tensorrt-14",
        "docs.nvidia.com explicit quantization",
        "docs",
        "warning",
    ),
    Caution(
        "parameter-not-constant", "the scale must be known when the engine is built", "tensorrt-14", "operators Quantize", "docs", "warning"
    ),
)


def versions() -> tuple[str, ...]:
    return tuple(LIMITS)


def profile(version: str | None) -> Profile | None:
    wanted = versions()[-1] if version is None else version
    known = counting(versions(), wanted)
    if known is None:
        return None
    opsets, storage, source = LIMITS[known]
    return Profile(
        NAME,
        wanted,
        opsets,
        rows=tuple(
            rows(
                f"{NAME}@{wanted}",
                NEWEST,
                storage,
                scale="float32 float16 bfloat16",
                expressed="float32 float16 bfloat16",
                blocks="int4" in storage,
            )
        ),
        contrib=OWN[known],
        source=source,
        cautions=at_version(CAUTIONS, versions(), known),
        binding=True,
        unsaid=COMPILED,
        unsaid_at_run_time=CODED,
    )
