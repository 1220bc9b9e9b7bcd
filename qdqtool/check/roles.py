"""What the inputs of a fragment are for: quantized codes, values to be quantized, a scale, a zero point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from onnx import NodeProto

from qdqtool import dtypes
from qdqtool.check.probe import Fragment
from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array, materialize

Role = Literal["values", "codes", "scale", "zero point"]
_OPERANDS: Mapping[str, tuple[Role, ...]] = {
    "QuantizeLinear": ("values", "scale", "zero point"),
    "DequantizeLinear": ("codes", "scale", "zero point"),
}


@dataclass(frozen=True, slots=True)
class Grid:
    """The steps a quantize node rounds to, where its parameters are constant; `attributes` are its integer ones."""

    scale: Array
    zero_point: Array | None
    attributes: Mapping[str, int]

    @property
    def storage(self) -> ElementType:
        """Type of the codes; unsigned bytes when nothing says otherwise."""
        stated = dtypes.of_code(self.attributes.get("output_dtype", 0))
        return (stated or dtypes.UINT8) if self.zero_point is None else dtypes.of_numpy(self.zero_point.dtype)

    @property
    def axis(self) -> int | None:
        return None if self.scale.size == 1 and self.scale.ndim <= 1 else self.attributes.get("axis", 1)

    @property
    def block(self) -> int | None:
        return self.attributes.get("block_size") or None


def roles(fragment: Fragment) -> dict[str, Role]:
    """The role of each input that a quantize or dequantize node reads directly."""
    found: dict[str, Role] = {}
    names = {port.name for port in fragment.inputs}
    for node in fragment.nodes:
        for name, role in zip(node.input, _OPERANDS.get(node.op_type, ()), strict=False):
            if name in names:
                found.setdefault(name, role)
    return found


def grids(fragment: Fragment) -> dict[str, Grid]:
    """The grid of each input or value that a quantize node with constant parameters reads."""
    quantizers = [node for node in fragment.nodes if node.op_type == "QuantizeLinear"]
    return {node.input[0]: grid for node in quantizers if (grid := grid_of(node, fragment)) is not None}


def live_grids(fragment: Fragment, drawn: Mapping[str, Array]) -> dict[str, Grid]:
    """The grid of each input whose quantize node has parameters of the run, by the values drawn for them."""
    found: dict[str, Grid] = {}
    for node in fragment.nodes:
        names = [name for name in node.input[1:3] if name]
        known = [drawn[n] if n in drawn else materialize(fragment.constants[n]) for n in names if n in drawn or n in fragment.constants]
        if node.op_type == "QuantizeLinear" and names and len(known) == len(names):
            found[node.input[0]] = Grid(known[0], known[1] if len(known) > 1 else None, {a.name: a.i for a in node.attribute})
    return found


def grid_of(node: NodeProto, fragment: Fragment) -> Grid | None:
    """Constant parameters of a quantize or dequantize node; None when they are computed."""
    names = [name for name in node.input[1:3] if name]
    if not names or any(name not in fragment.constants for name in names):
        return None
    scale, *rest = (materialize(fragment.constants[name]) for name in names)
    return Grid(scale, rest[0] if rest else None, {a.name: a.i for a in node.attribute})


def nan_is_open(fragment: Fragment) -> bool:
    """Whether the spec leaves open what NaN becomes: it is quantized to a type that has none."""
    return any(node.op_type == "DynamicQuantizeLinear" or _lacks_nan(node, fragment) for node in fragment.nodes)


def _lacks_nan(node: NodeProto, fragment: Fragment) -> bool:
    if node.op_type != "QuantizeLinear":
        return False
    types: dict[str, ElementType] = {port.name: port.dtype for port in (*fragment.inputs, *fragment.outputs)}
    types |= {name: source.dtype for name, source in fragment.constants.items()}
    stated = [types[name] for name in (*node.input[2:3], *node.output[:1]) if name in types]
    stated += [dtype for a in node.attribute if a.name == "output_dtype" and (dtype := dtypes.of_code(a.i)) is not None]
    return not any(dtype.specials for dtype in stated)
