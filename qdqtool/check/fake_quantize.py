"""FakeQuantize of OpenVINO for ``onnx.reference``, by its specification, and the steps that it rounds to."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto
from onnx.reference.op_run import OpRun

from qdqtool.check.probe import Fragment
from qdqtool.check.stimuli import Inputs
from qdqtool.kernels.sources import Array, materialize

NAME = "FakeQuantize"


class FakeQuantize(OpRun):
    """All in float32, one rounding for each operator of the formula; float16 is rounded once at the end."""

    op_domain = "org.openvinotoolkit"

    def _run(self, x: Array, *ends: Array, **named: Any) -> tuple[Array]:
        most = np.float32(named["levels"] - 1)
        wide, low, high, least, greatest = (np.asarray(a, np.float32) for a in (x, *ends))
        level = np.rint((wide - low) / (high - low) * most) / most * (greatest - least) + least
        inside = np.where(wide > np.maximum(low, high), greatest, level)
        return (np.where(wide <= np.minimum(low, high), least, inside).astype(x.dtype),)


NEAR = 2.0**-20
"""Share of the number of levels by which the roundings of the formula, and of a scale and a zero point made of its ends, move a level."""


def ties(node: NodeProto, fragment: Fragment, inputs: Inputs) -> Array | None:
    """Where an input lies half way between two levels, or as near as float32 can mistake; None where an operand is not known."""
    held = {name: materialize(fragment.constants[name]) for name in node.input[:3] if name in fragment.constants} | inputs
    if node.op_type != NAME or (levels := _levels(node)) < 2 or any(name not in held for name in node.input[:3]):
        return None
    x, low, high = (held[name].astype(np.float64) for name in node.input[:3])
    with np.errstate(all="ignore"):
        level = (x - low) / (high - low) * (levels - 1)
        return np.asarray(np.abs(level - np.floor(level) - 0.5) <= levels * NEAR)


def _levels(node: NodeProto) -> int:
    return next((a.i for a in node.attribute if a.name == "levels"), 0)


def step(node: NodeProto, fragment: Fragment) -> Array | None:
    """The distance between two levels of its output, which broadcasts against it; None where an end is no constant."""
    names = node.input[3:5]
    levels = _levels(node)
    if node.op_type != NAME or levels < 2 or any(name not in fragment.constants for name in names):
        return None
    low, high = (materialize(fragment.constants[name]).astype(np.float64) for name in names)
    return np.abs(high - low) / (levels - 1)
