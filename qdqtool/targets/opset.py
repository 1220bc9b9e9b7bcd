"""An opset of ai.onnx and nothing else: ``opset@17``."""

from __future__ import annotations

from onnx import defs

from qdqtool.targets.profile import Profile

NAME = "opset"
OLDEST, NEWEST = 7, defs.onnx_opset_version()


def versions() -> tuple[str, ...]:
    return tuple(str(n) for n in range(OLDEST, NEWEST + 1))


def profile(version: str | None) -> Profile | None:
    wanted = str(NEWEST) if version is None else version
    return Profile(NAME, wanted, (int(wanted), int(wanted))) if wanted in versions() else None
