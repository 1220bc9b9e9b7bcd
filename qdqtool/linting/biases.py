"""Float biases that a runtime quantizes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqtool.linting.layers import Layer
from qdqtool.targets.cautions import Caution

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject


def float_biases(subject: Subject, caution: Caution) -> list[Layer]:
    """Layers whose float bias the runtime quantizes itself."""
    layers = (one for one in subject.layers if one.op in caution.ops and one.bias is not None and one.bias.constant)
    return [one for one in layers if one.data.direct and one.weight.direct]
