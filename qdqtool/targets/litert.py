"""LiteRT (TensorFlow Lite), from its specification of 8-bit quantization; it was not run."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import CODED, COMPILED, rows, types

NAME = "litert"
SOURCE = "LiteRT 8-bit quantization spec (developers.google.com/edge/litert quantization_spec)"
NEWEST = 28

SHARED = (
    *("AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool", "Concat", "Pad", "Reshape", "Flatten", "Resize", "Slice", "Squeeze"),
    *("Unsqueeze", "Transpose", "Gather", "Max", "Min", "DepthToSpace", "SpaceToDepth"),
)
FIXED = (
    ("Sigmoid", 1 / 256, -128),
    ("Softmax", 1 / 256, -128),
    ("Tanh", 1 / 128, 0),
    ("LpNormalization", 1 / 128, 0),
    ("LogSoftmax", 16 / 256, 127),
)
WEIGHTED = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul"))

CAUTIONS = Cautions(
    (
        Caution("codes-not-supported", "", "litert-01", SOURCE, "docs"),
        Caution("granularity-not-supported", "", "litert-01", SOURCE, "docs"),
        Caution(
            "activation-not-per-tensor", "per axis is for weights there", "litert-01", SOURCE, "docs", role="activation", spread=("axis",)
        ),
        Caution(
            "zero-point-not-zero",
            "weights are symmetric there",
            "litert-01",
            SOURCE,
            "docs",
            role="weight",
            kind="dequantize",
        ),
        Caution(
            "code-out-of-range",
            "weights are in -127 to 127 there",
            "litert-01",
            SOURCE,
            "docs",
            role="weight",
            kind="dequantize",
            storage=types("int8"),
            numbers={"low": (-127,)},
        ),
        Caution(
            "channel-axis-not-output",
            "it takes the output channels only, axis 0",
            "litert-01",
            SOURCE,
            "docs",
            ops=frozenset(("Conv",)),
        ),
        Caution(
            "bias-not-supported",
            "it takes int32 with the product of the other scales and zero point 0",
            "litert-01",
            SOURCE,
            "docs",
            ops=WEIGHTED,
            storage=types("int32"),
            numbers={"product": (1,), "zero": (0,)},
        ),
        *(
            Caution(
                "fixed-parameters-differ",
                "it computes with these",
                "litert-02",
                SOURCE,
                "docs",
                ops=frozenset((op,)),
                storage=types("int8"),
                numbers={"scale": (scale,), "zero": (zero,)},
            )
            for op, scale, zero in FIXED
        ),
        Caution(
            "parameters-must-agree",
            "they share scale and zero point there",
            "litert-03",
            SOURCE,
            "docs",
            ops=frozenset(SHARED),
            numbers={"zero_point": (1,)},
        ),
    )
)


def versions() -> tuple[str, ...]:
    return ()


def profile(version: str | None) -> Profile | None:
    if version is not None:
        return None
    known = rows(NAME, NEWEST, "int8 int32", scale="float32", expressed="float32")
    return Profile(
        NAME,
        "",
        (7, NEWEST),
        rows=tuple(known),
        source=SOURCE,
        cautions=CAUTIONS,
        binding=True,
        unsaid=COMPILED | {"float-bias"},
        unsaid_at_run_time=CODED,
    )
