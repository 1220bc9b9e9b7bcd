"""OpenVINO on the CPU, as measured in its wheel."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import ARITHMETIC, counting, rows, types

NAME = "openvino"
VERSION = "2026.4"
SOURCE = "openvino 2026.4.1 on Linux x86_64, CPU, 3,028 forms"

INTEGERS = "int8 uint8 int16 uint16 int4 uint4"
FLOAT8 = "float8e4m3fn float8e5m2"
NUMBERS = "float32 float16 bfloat16"
MICROSOFT = "com.microsoft"
UNSAID = ARITHMETIC | {"divide-first"}
"""It leaves out the Casts that would round a quotient, too."""
TO_QDQ = "write them as quantize/dequantize nodes around the plain operator"

CAUTIONS = Cautions(
    (
        Caution("codes-not-supported", "it says 'Unsupported data type'", "openvino-01", SOURCE, "measured"),
        Caution(
            "block-does-not-fit",
            "it takes whole blocks only, and none of rank 1",
            "openvino-02",
            SOURCE,
            "measured",
            kind="dequantize",
            numbers={"divides": (1,), "rank": (2,)},
        ),
        Caution(
            "block-does-not-fit",
            "it takes whole blocks only",
            "openvino-02",
            SOURCE,
            "measured",
            kind="quantize",
            numbers={"divides": (1,)},
        ),
        Caution(
            "zero-point-missing",
            "it wants one beside blocks",
            "openvino-02",
            SOURCE,
            "measured",
            hint="write the zero points",
            kind="quantize",
            spread=("blocks",),
        ),
        Caution(
            "zero-point-not-zero", "it does not read the model", "openvino-03", SOURCE, "measured", kind="quantize", storage=types(FLOAT8)
        ),
        Caution(
            "tie-rounded-otherwise",
            "it rounds after adding the zero point, so exact ties come out one step different",
            "openvino-04",
            SOURCE,
            "measured",
            "warning",
            "an even zero point gives the same codes",
            kind="quantize",
            storage=types(INTEGERS),
        ),
        Caution("attribute-ignored", "it divides in float32", "openvino-05", SOURCE, "measured", "warning", attribute="precision"),
        Caution("attribute-ignored", "it always saturates", "openvino-05", SOURCE, "measured", "warning", attribute="saturate"),
        Caution(
            "computed-otherwise",
            "it makes the codes floats of 16 bits before it subtracts: they overflow or lose bits",
            "openvino-06",
            SOURCE,
            "measured",
            "warning",
            "a float32 scale, then a Cast",
            kind="dequantize",
            storage=types("int32 int16 uint16"),
            scale=types("float16 bfloat16"),
        ),
        Caution(
            "computed-otherwise",
            "it scales rows by the scales of columns",
            "",
            SOURCE,
            "measured",
            hint="blocks as long as the dimension mean the same",
            kind="dequantize",
            storage=types("int8 uint8 int4 uint4"),
            spread=("axis",),
            ops=frozenset(("Gather",)),
            numbers={"read": (0,)},
        ),
        Caution("opset-out-of-reach", "", "openvino-07", SOURCE, "measured", "info"),
        Caution(
            "computed-otherwise",
            "it wraps around where it should saturate",
            "openvino-08",
            SOURCE,
            "measured",
            hint=TO_QDQ,
            ops=frozenset(("QLinearAdd", "QLinearMul", "QLinearConcat", "QLinearSigmoid", "QLinearAveragePool")),
            domain=MICROSOFT,
        ),
        Caution(
            "operator-without-kernel",
            "it does not read the model",
            "openvino-08",
            SOURCE,
            "measured",
            hint=TO_QDQ,
            ops=frozenset(("QGemm", "QMoE", "QAttention", "MatMulBnb4", "QLinearGlobalAveragePool")),
            domain=MICROSOFT,
        ),
        Caution(
            "operands-not-supported",
            "it does not read QLinear operators with per-channel scales",
            "openvino-08",
            SOURCE,
            "measured",
            hint=TO_QDQ,
            ops=frozenset(("QLinearConv", "QLinearMatMul")),
            numbers={"scalar": (1, 4)},
        ),
        Caution(
            "activations-quantized-anew",
            "it quantizes the activations to int8 (0.3 to 1 % of the output's maximum)",
            "openvino-09",
            SOURCE,
            "measured",
            "warning",
            "set DYNAMIC_QUANTIZATION_GROUP_SIZE to 0, or EXECUTION_MODE_HINT to ACCURACY",
            ops=frozenset(("MatMulNBits",)),
            domain=MICROSOFT,
        ),
        Caution(
            "packed-form-not-supported",
            "it ignores g_idx",
            "openvino-09",
            SOURCE,
            "measured",
            ops=frozenset(("MatMulNBits",)),
            domain=MICROSOFT,
            numbers={"without_input": (4,)},
        ),
        Caution(
            "packed-form-not-supported",
            "it takes blocks along the last axis that divide it",
            "openvino-09",
            SOURCE,
            "measured",
            ops=frozenset(("GatherBlockQuantized",)),
            domain=MICROSOFT,
            numbers={"last_axis": (1,)},
        ),
    )
)


def versions() -> tuple[str, ...]:
    return (VERSION,)


def profile(version: str | None) -> Profile | None:
    wanted = VERSION if version is None else version
    if counting(versions(), wanted) is None:
        return None
    runtime, both = f"{NAME}@{wanted}", ("ai.onnx", MICROSOFT)
    reals = {"scale": f"{NUMBERS} float8e8m0", "dialects": both, "blocks": True}
    quantize = rows(runtime, 28, f"{INTEGERS} {FLOAT8}", kinds=("quantize",), expressed=f"{NUMBERS} int32", **reals)  # type: ignore[arg-type]
    dequantize = rows(runtime, 28, f"{INTEGERS} {FLOAT8} int32 float4e2m1", kinds=("dequantize",), expressed=NUMBERS, **reals)  # type: ignore[arg-type]
    return Profile(NAME, wanted, (10, 28), rows=(*quantize, *dequantize), source=SOURCE, cautions=CAUTIONS, binding=True, unsaid=UNSAID)
