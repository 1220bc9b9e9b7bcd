"""Constant codes: each read once, and what they say about the channels they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from qdqtool.expressions import Const, Expr, is_const
from qdqtool.kernels.codes import Codes
from qdqtool.kernels.sources import Array
from qdqtool.linting.layers import axes
from qdqtool.linting.scales import operand_name
from qdqtool.model.graph import Place
from qdqtool.plan.lift import Lifted
from qdqtool.quantization import PerAxis, PerTensor

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject

Role = Literal["weight", "bias", ""]


@dataclass(frozen=True)
class Weight:
    """Constant codes under one dequantize node, `axis` the one of its scales, else the output channels of the layer it feeds."""

    subject: Subject
    place: Place
    lifted: Lifted
    const: Const
    role: Role
    axis: int | None

    @property
    def name(self) -> str:
        return operand_name(self.subject, self.place, 0)

    def __str__(self) -> str:
        return f"{self.role or 'constant'} '{self.name}' {self.const.dtype}{list(self.const.shape)}"

    @cached_property
    def codes(self) -> Codes:
        found: Codes = self.subject.facts.ask("codes", self.const, self.axis)
        return found

    @cached_property
    def zeros(self) -> Array | None:
        """The zero point of each index along the axis; None where it is not known, or one of a block."""
        zero = self.lifted.step.zero_point
        return np.zeros(1) if zero is None else self._along(zero)

    @cached_property
    def scales(self) -> Array | None:
        """The scale of each index along the axis, as `zeros`."""
        return self._along(self.lifted.step.scale)

    def _along(self, parameter: Expr) -> Array | None:
        fits = isinstance(self.lifted.step.meaning.granularity, PerAxis | PerTensor)
        if not fits or not is_const(parameter) or prod(parameter.shape) not in (1, self.codes.lows.size):
            return None
        found: Array = self.subject.facts.ask("numbers", parameter)
        return found


def weights_of(subject: Subject) -> list[Weight]:
    """Every constant with at least one element, once for each axis it is looked at."""
    return list(_weights(subject))


def _weights(subject: Subject) -> Iterator[Weight]:
    roles = _roles(subject)
    seen = set()
    for place, lifted in subject.steps.items():
        codes, meaning = lifted.step.x, lifted.step.meaning
        if meaning.kind != "dequantize" or not is_const(codes) or 0 in codes.shape:
            continue
        role, axis = roles.get(place, ("", None))
        granularity = meaning.granularity
        if isinstance(granularity, PerAxis):
            axis = granularity.axis
        elif not isinstance(granularity, PerTensor):
            axis = None
        axis = axis if axis is not None and 0 <= axis < len(codes.shape) else None
        if (codes, axis) not in seen:
            seen.add((codes, axis))
            yield Weight(subject, place, lifted, codes, role, axis)


def _roles(subject: Subject) -> dict[Place, tuple[Role, int | None]]:
    """What each dequantize node is to its layer, with the axis of the output channels."""
    found: dict[Place, tuple[Role, int | None]] = {}
    for layer in subject.layers:
        if layer.bias is not None and layer.bias.step is not None:
            found[layer.bias.step] = ("bias", None)
        if layer.weight.step is not None:
            shape = subject.steps[layer.weight.step].step.x.shape
            direct = layer.weight.direct and shape is not None and len(shape) > 1
            found[layer.weight.step] = ("weight", axes(subject, layer, len(shape or ()))[0] if direct else None)
    return found
