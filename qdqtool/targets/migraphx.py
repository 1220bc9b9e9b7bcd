"""MIGraphX, from its documentation; it was not run."""

from __future__ import annotations

from qdqtool.targets.cautions import Caution, Cautions
from qdqtool.targets.profile import Profile
from qdqtool.targets.transcribed import counting, rows

NAME = "migraphx"
VERSION = "7.2"
SOURCE = "rocm.docs.amd.com MIGraphX 7.2.2 onnx_operators"
NEWEST = 19
STORAGE = "int8 uint8 int32 float8e4m3fnuz"


def versions() -> tuple[str, ...]:
    return (VERSION,)


def profile(version: str | None) -> Profile | None:
    wanted = VERSION if version is None else version
    if counting(versions(), wanted) is None:
        return None
    known = rows(f"{NAME}@{wanted}", NEWEST, STORAGE, scale="float32 float16 bfloat16", expressed="float32 float16 bfloat16 int32")
    cautions = Cautions(Caution(rule, "", "migraphx-01", SOURCE, "docs") for rule in ("opset-out-of-reach", "codes-not-supported"))
    return Profile(NAME, wanted, (7, NEWEST), rows=tuple(known), source=SOURCE, cautions=cautions, converts=False)
