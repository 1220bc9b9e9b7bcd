"""What a plan hands over to be checked: each rewritten step as two small graphs that must say the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onnx import NodeProto

from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound, Exactness
from qdqtool.kernels.sources import Source


@dataclass(frozen=True, slots=True)
class Port:
    """A value that enters or leaves a fragment; `shape` is None when even the rank is unknown.

    `default` is what the model itself gives for an integer input, where that says more than numbers made up: axes, a shape, indices.
    """

    name: str
    dtype: ElementType
    shape: tuple[int | None, ...] | None = None
    default: Source | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Fragment:
    """Nodes cut out of a model, with the constants they read."""

    nodes: tuple[NodeProto, ...]
    imports: Mapping[str, int]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: Mapping[str, Source]


@dataclass(frozen=True, slots=True)
class Rounded:
    """A node that stays and means the same, but whose sums ONNX Runtime adds up in another order in the rewritten model.

    `node` names it in words; `values` are its results in the main graph, and empty for a node in a body or function.
    """

    node: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """One rewritten step: original and replacement, with the class and bound promised for it.

    Both fragments take the same inputs in the same order and give one output; types may differ in the carrier only.
    `inputs_in_model` and `output_in_model` are the names of those values in the original model's main graph; without
    them the step cannot be replayed on the values the model really computes. `coverage` tells which part of a large
    constant was cut out, and is empty when all of it is there. `ordinary` ones promise nothing where the original overflows
    on the way, and get no extreme values.
    """

    place: str
    exactness: Exactness
    bound: Bound | None
    before: Fragment
    after: Fragment
    inputs_in_model: tuple[str, ...] = ()
    output_in_model: str = ""
    coverage: str = ""
    ordinary: bool = False
