"""AMD's NPU through Vitis AI, from what its quantizer (Quark) refines models to; it was not run.

What other runtimes call a version is the scheme here: ``vitis@xint8`` has power-of-two scales, ``vitis@a8w8`` and ``vitis@a16w8``
float scales.
"""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import CODED, COMPILED, rows

NAME = "vitis"
MODES = True
SOURCE = "amd-quark 0.13 wheel, quark/onnx (config/custom_config.py, postprocess/refinement/refine.py)"
NEWEST = 28
MICROSOFT = "com.microsoft"

SCHEMES = {"a8w8": "int8 int32", "a16w8": "int16 int8 int32", "vint8": "int8", "xint8": "int8 uint8"}
"""Storage types; the last is what Quark proposes for convolutional networks."""

SHARED = ("Concat", "AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool", "Pad", "Slice")
REFINE = "let the quantizer refine its scales for the NPU"


def _shift(id_: str, ops: tuple[str, ...], text: str, *names: str, **numbers: tuple[float, ...]) -> Caution:
    limits = dict.fromkeys(names, (1.0,)) | numbers
    return Caution("shift-out-of-range", text, id_, SOURCE, "source", hint=REFINE, ops=frozenset(ops), numbers=limits)


POWERS = (
    Caution("scale-not-power-of-two", "it shifts instead of multiplying", "vitis-npu-01", SOURCE, "source", hint=REFINE),
    Caution(
        "zero-point-not-zero",
        "it is symmetric only",
        "vitis-npu-01",
        SOURCE,
        "source",
        numbers={"zero": (0,), "uint8": (0, 128)},
    ),
    Caution("granularity-not-supported", "", "vitis-npu-01", SOURCE, "source", hint="one scale for each tensor"),
    _shift("vitis-npu-02", ("Conv", "Gemm"), "it shifts the sum by 0 to 16 bits", "products", cut=(0, 16)),
    _shift("vitis-npu-03", ("Conv", "Gemm"), "it shifts the bias into the sum", "products", "bias"),
    _shift("vitis-npu-04", ("Add", "Sub"), "it aligns operands by 0 to 7 bits", read=(0, 7)),
    _shift("vitis-npu-04", ("Add",), "it shifts the result by -7 to 25 bits", write=(-7, 25)),
    _shift("vitis-npu-04", ("Mul",), "it shifts the result by 0 to 32 bits", cut=(0, 32)),
    Caution("parameters-must-agree", "they share one scale there", "vitis-npu-05", SOURCE, "source", hint=REFINE, ops=frozenset(SHARED)),
    _shift("vitis-npu-06", ("Mul",), "of a Swish it shifts the product by 0 to 15 bits", gate=(0, 15)),
    _shift("vitis-npu-06", ("HardSigmoid",), "it computes in fixed point", position=(0, 15), result=(7, 255), slope=(0, 31)),
)
FLOATS = (
    Caution("zero-point-not-zero", "its codes are symmetric", "vitis-npu-07", SOURCE, "source", "warning"),
    Caution("parameters-must-agree", "they share one scale there", "vitis-npu-07", SOURCE, "source", "warning", ops=frozenset(("Concat",))),
)
EXTENDED = Caution(
    "operator-of-one-runtime",
    "no other runtime loads such nodes",
    "vitis-npu-08",
    SOURCE,
    "source",
    "warning",
    domain="com.amd.quark",
)


def versions() -> tuple[str, ...]:
    return tuple(SCHEMES)


def profile(version: str | None) -> Profile | None:
    scheme = versions()[-1] if version is None else version
    if scheme not in SCHEMES:
        return None
    powers = scheme in ("vint8", "xint8")
    known = rows(f"{NAME}@{scheme}", NEWEST, SCHEMES[scheme], scale="float32", dialects=("ai.onnx", MICROSOFT), vector=not powers)
    types_said = Caution("codes-not-supported", "", "vitis-npu-01" if powers else "vitis-npu-07", SOURCE, "source")
    cautions = Cautions((types_said, *(POWERS if powers else FLOATS), EXTENDED))
    return Profile(
        NAME,
        scheme,
        (7, NEWEST),
        rows=tuple(known),
        source=SOURCE,
        cautions=cautions,
        binding=True,
        unsaid=COMPILED | {"float-bias"},
        unsaid_at_run_time=CODED,
    )
