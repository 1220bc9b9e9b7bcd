"""FakeQuantize of OpenVINO for ``onnx.reference``, by its specification, and the steps that it rounds to."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto
from onnx.reference.op_run import OpRun

from qdqtool.check.probe import Fragment
from qdqtool.kernels.sources import Array, materialize

NAME = "FakeQuantize"


class FakeQuantize(OpRun):
    """All in float32, one rounding for each operator of the formula; float16 is rounded once at the end."""

    op_domain = "org.openvinotoolkit"

    def _run(self, x: Array, *ends: Array, **named: Any) -> tuple[Array]:
        most = np.float32((named.get("levels") or 256) - 1)
        wide, low, high, least, greatest = (np.asarray(a, np.float32) for a in (x, *ends))
        level = np.rint((wide - low) / (high - low) * most) / most * (greatest - least) + least
        inside = np.where(wide > np.maximum(low, high), greatest, level)
        return (np.where(wide <= np.minimum(low, high), least, inside).astype(x.dtype),)


def step(node: NodeProto, fragment: Fragment) -> Array | None:
    """The distance between two levels of its output, which broadcasts against it; None where an end is no constant."""
    names = node.input[3:5]
    if node.op_type != NAME or any(name not in fragment.constants for name in names):
        return None
    low, high = (materialize(fragment.constants[name]).astype(np.float64) for name in names)
    return np.abs(high - low) / (next((a.i for a in node.attribute if a.name == "levels"), 256) - 1)
