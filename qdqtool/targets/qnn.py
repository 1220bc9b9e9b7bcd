"""Qualcomm's HTP through ONNX Runtime's QNN provider, as measured in emulation."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import CODED, COMPILED, counting, rows, types

NAME = "qnn"
VERSION = "2.7"
SOURCE = "onnxruntime-qnn 2.7.0 wheel, HTP emulation on x86, soc_model 60, htp_arch 75"
CONFIG = "onnxruntime.quantization.execution_providers.qnn.quant_config (1.32 wheel)"

CODES = "int8 uint8 int16 uint16"
CONV = frozenset(("Conv", "ConvTranspose"))
PRODUCTS = frozenset(("MatMul", "Gemm"))
INSERT = "insert a QuantizeLinear-DequantizeLinear pair that changes the type behind the operator"

TENSOR = (
    ("uint8", "int8 uint8 int4 uint4"),
    ("int8", "int8"),
    ("uint16", "int8 uint8 int16 uint16 int4 uint4"),
    ("int16", "int8"),
)
AXIS = (
    ("uint8", "int8 uint8 int4"),
    ("int8", "int8"),
    ("uint16", "int8 uint8 int16 int4"),
    ("int16", "int8 int4"),
)
"""Of Conv: the types of weights that go with the type of the activation, one scale for all or one for each channel."""


def _pairs(table: tuple[tuple[str, str], ...]) -> frozenset[tuple[str, str]]:
    return frozenset((activation, weight) for activation, weights in table for weight in weights.split())


CAUTIONS = Cautions(
    (
        Caution("codes-not-supported", "", "qnn-htp-01", SOURCE, "measured", kind="quantize"),
        Caution(
            "zero-point-missing",
            "it takes the codes for unsigned, and is wrong",
            "",
            SOURCE,
            "measured",
            hint="write the zero point, an int4 0",
            kind="dequantize",
            storage=types("int4"),
            role="weight",
        ),
        Caution(
            "operands-not-supported",
            "it does not take weights of 4 bits with one scale beside a quantized bias",
            "qnn-htp-02",
            SOURCE,
            "measured",
            hint="one scale for each output channel",
            ops=CONV,
            storage=types("int4 uint4"),
            spread=("tensor",),
            numbers={"bias": (1,)},
        ),
        Caution(
            "operands-not-supported",
            "it does not take such weights beside such activations",
            "qnn-htp-02",
            SOURCE,
            "measured",
            hint="int8 weights go with every activation",
            ops=CONV,
            spread=("tensor",),
            pairs=_pairs(TENSOR),
        ),
        Caution(
            "operands-not-supported",
            "it does not take such weights beside such activations",
            "qnn-htp-02",
            SOURCE,
            "measured",
            hint="int8 weights go with every activation",
            ops=CONV,
            spread=("axis",),
            pairs=_pairs(AXIS),
        ),
        Caution(
            "zero-point-not-zero",
            "per-channel weights are symmetric there",
            "qnn-htp-03",
            SOURCE,
            "measured",
            hint="quantize them symmetrically, or with one scale",
            role="weight",
            spread=("axis",),
            numbers={"zero": (0,), "uint8": (0, 128), "uint16": (0, 32768)},
        ),
        Caution(
            "channel-axis-not-output",
            "it takes the output channels only, axis 0",
            "qnn-htp-04",
            SOURCE,
            "measured",
            ops=frozenset(("Conv",)),
        ),
        Caution(
            "activation-not-per-tensor",
            "it takes one scale there",
            "qnn-htp-05",
            SOURCE,
            "measured",
            role="activation",
            spread=("axis", "blocks"),
        ),
        Caution("parameter-not-constant", "it wants constant scales and zero points", "qnn-htp-05", SOURCE, "measured"),
        Caution(
            "output-type-differs",
            "the operator falls back to the CPU",
            "qnn-htp-06",
            SOURCE,
            "measured",
            hint=INSERT,
            ops=CONV | PRODUCTS,
        ),
        Caution(
            "bias-not-supported",
            "it takes int8 and int32 with zero point 0, float or none",
            "qnn-htp-07",
            SOURCE,
            "measured",
            ops=CONV | {"Gemm"},
            storage=types("int8 int32"),
            numbers={"zero": (0,)},
        ),
        Caution(
            "channel-axis-not-output",
            "it takes scales along the contraction axis, and is wrong by half the range",
            "qnn-htp-08",
            SOURCE,
            "measured",
            hint="one scale for each output column",
            ops=PRODUCTS,
            numbers={"summed": (1,)},
        ),
        Caution(
            "computed-otherwise",
            "it takes them, and is wrong",
            "qnn-htp-09",
            SOURCE,
            "measured",
            kind="dequantize",
            storage=types("uint4 int8"),
            role="weight",
            spread=("blocks",),
        ),
        Caution(
            "operands-not-supported",
            "it takes blocked weights beside 16-bit activations only",
            "qnn-htp-09",
            SOURCE,
            "measured",
            ops=CONV | PRODUCTS,
            spread=("blocks",),
            pairs=frozenset((activation, weight) for activation in ("uint16", "int16") for weight in ("int4", "uint4", "int8")),
        ),
        Caution(
            "computed-otherwise",
            "it takes them, and is wrong",
            "qnn-htp-10",
            SOURCE,
            "measured",
            kind="dequantize",
            storage=types("int2"),
            role="weight",
        ),
        Caution(
            "computed-otherwise",
            "it takes the zero point for -128 whatever it is, and every element is wrong",
            "qnn-htp-11",
            SOURCE,
            "measured",
            hint="scale 1/256 and zero point -128, or uint8",
            ops=frozenset(("Softmax",)),
            storage=types("int8"),
            numbers={"zero": (-128,)},
        ),
        Caution("opset-out-of-reach", "", "qnn-htp-12", SOURCE, "measured"),
        Caution(
            "",
            "Conv comes up to 5 steps from ONNX Runtime's CPU, elementwise operators 1, Gelu of uint16 10",
            "qnn-htp-13",
            SOURCE,
            "measured",
            "info",
        ),
        *(
            Caution(
                "fixed-parameters-differ",
                "it computes with these",
                "qnn-htp-14",
                CONFIG,
                "source",
                "warning",
                ops=frozenset((op,)),
                storage=types(storage),
                numbers={"scale": (scale,), "zero": (zero,)},
            )
            for op, storage, scale, zero in (
                ("Sigmoid", "uint16", 1 / 65536, 0),
                ("Sigmoid", "int16", 1 / 32768, 0),
                ("Tanh", "uint16", 1 / 32768, 32768),
                ("Tanh", "int16", 1 / 32768, 0),
            )
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
    quantize = rows(runtime, 27, CODES, kinds=("quantize",), dialects=both, blocks=True)
    dequantize = rows(runtime, 27, f"{CODES} int32 int4 uint4 int2", kinds=("dequantize",), dialects=both, blocks=True)
    return Profile(
        NAME,
        wanted,
        (13, 27),
        rows=(*quantize, *dequantize),
        source=SOURCE,
        cautions=CAUTIONS,
        binding=True,
        unsaid=COMPILED | {"rows-per-block"},
        unsaid_at_run_time=CODED,
    )
