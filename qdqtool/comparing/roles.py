"""What operands are called, and what attributes are when nobody writes them."""

from __future__ import annotations

from typing import Any

from onnx import NodeProto, defs, helper

from qdqtool.comparing.sides import Side
from qdqtool.model.graph import domain

STEPS = {
    "QuantizeLinear": ("input", "scale", "zero point"),
    "DequantizeLinear": ("codes", "scale", "zero point"),
}
# Of operators that onnx has no schema of.
_CONTRIB = {
    "MatMulNBits": ("A", "B", "scales", "zero_points", "g_idx", "bias"),
    "GatherBlockQuantized": ("data", "indices", "scales", "zero_points"),
    "QGemm": ("A", "a_scale", "a_zero_point", "B", "b_scale", "b_zero_point", "C", "y_scale", "y_zero_point"),
    "QLinearAdd": ("A", "A_scale", "A_zero_point", "B", "B_scale", "B_zero_point", "C_scale", "C_zero_point"),
    "QLinearMul": ("A", "A_scale", "A_zero_point", "B", "B_scale", "B_zero_point", "C_scale", "C_zero_point"),
}


def role(side: Side, node: NodeProto, slot: int) -> str:
    """The name of an operand in its schema; what it is for, of a step."""
    names = STEPS.get(node.op_type) or _CONTRIB.get(node.op_type)
    if names is not None and slot < len(names):
        return names[slot]
    own = domain(node.domain)
    if defs.has(node.op_type, max(side.imports.get(own, 1), 1), own):
        inputs = defs.get_schema(node.op_type, side.imports.get(own, 1), own).inputs
        return inputs[min(slot, len(inputs) - 1)].name if inputs else f"input {slot}"
    return f"input {slot}"


def defaults(side: Side, node: NodeProto) -> dict[str, Any]:
    """Attributes that have one."""
    own = domain(node.domain)
    if not defs.has(node.op_type, max(side.imports.get(own, 1), 1), own):
        return {"axis": 1} if node.op_type in STEPS else {}
    schema = defs.get_schema(node.op_type, side.imports.get(own, 1), own)
    values = {name: attribute.default_value for name, attribute in schema.attributes.items() if attribute.default_value.name}
    return {name: _decoded(helper.get_attribute_value(value)) for name, value in values.items()}


def _decoded(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
