"""Core ML, from the operators of its model language in coremltools; it was not run. The version is that of iOS."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, at_version
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import CODED, COMPILED, counting, rows, types

NAME = "coreml"
SOURCE = "coremltools 9.0 wheel, MIL iOS17 quantize/dequantize, iOS18 constexpr_blockwise_shift_scale"
NEWEST = 28
VERSIONS = ("17", "18")

CAUTIONS = (
    Caution("codes-not-supported", "", "coreml-01", SOURCE, "source"),
    Caution(
        "codes-not-supported",
        "4-bit codes are for weights there",
        "coreml-01",
        SOURCE,
        "source",
        storage=types("int4 uint4"),
        role="activation",
    ),
    Caution("parameter-not-constant", "it wants constant scales and zero points", "coreml-01", SOURCE, "source"),
    Caution("scale-not-positive", "it rejects scales that are all 0", "coreml-01", SOURCE, "source", numbers={"zeros": (1,)}),
    Caution(
        "activation-not-per-tensor", "blocks are for weights there", "coreml-01", SOURCE, "source", role="activation", spread=("blocks",)
    ),
    Caution("granularity-not-supported", "blocks need iOS 18", "coreml-02", SOURCE, "source", last="17"),
    Caution("block-does-not-fit", "it takes whole blocks only", "coreml-02", SOURCE, "source", first="18", numbers={"divides": (1,)}),
    Caution(
        "zero-point-shaped-otherwise",
        "it wants them shaped like the scales",
        "coreml-02",
        SOURCE,
        "source",
        first="18",
        numbers={"equal": (1,)},
    ),
)


def versions() -> tuple[str, ...]:
    return VERSIONS


def profile(version: str | None) -> Profile | None:
    wanted = VERSIONS[-1] if version is None else version
    known = counting(VERSIONS, wanted)
    if known is None:
        return None
    runtime, small = f"{NAME}@{wanted}", known == "18"
    quantize = rows(runtime, NEWEST, "int8 uint8", kinds=("quantize",), linked=True)
    storage = "int8 uint8 int4 uint4" if small else "int8 uint8"
    dequantize = rows(runtime, NEWEST, storage, kinds=("dequantize",), linked=True, blocks=small)
    return Profile(
        NAME,
        wanted,
        (7, NEWEST),
        rows=(*quantize, *dequantize),
        source=SOURCE,
        cautions=at_version(CAUTIONS, VERSIONS, known),
        binding=True,
        unsaid=COMPILED,
        unsaid_at_run_time=CODED,
    )
