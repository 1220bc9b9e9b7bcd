"""Why two places compute different values: their operators, attributes and constants, compared and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from onnx import NodeProto, helper

from qdqtool import dtypes
from qdqtool.comparing.patterns import pattern
from qdqtool.comparing.roles import STEPS, defaults, role
from qdqtool.comparing.sides import Side
from qdqtool.kernels.sources import Array


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is different, and the node in either model that it is about; None where one model has no such node."""

    text: str
    old: NodeProto | None = None
    new: NodeProto | None = None


def reasons(a: Side, before: Sequence[NodeProto], b: Side, after: Sequence[NodeProto]) -> list[Reason]:
    """One for each thing that is different; none when nothing can be named."""
    matcher = SequenceMatcher(None, [n.op_type for n in before], [n.op_type for n in after], autojunk=False)
    found: list[Reason] = []
    operators: list[Reason] = []
    for what, i, j, k, m in matcher.get_opcodes():
        if what == "equal":
            for old, new in zip(before[i:j], after[k:m], strict=True):
                found += [Reason(text, old, new) for text in node_reasons(a, old, b, new)]
        else:
            text = _operators(a, before[i:j], b, after[k:m])
            operators.append(Reason(text, before[j - 1] if i < j else None, after[m - 1] if k < m else None))
    return found + operators


def node_reasons(a: Side, old: NodeProto, b: Side, new: NodeProto) -> list[str]:
    """What is different about two nodes of one operator."""
    return [*_attributes(a, old, b, new), *_constants(a, old, b, new), *_bodies(a, old, b, new)]


def _operators(a: Side, before: Sequence[NodeProto], b: Side, after: Sequence[NodeProto]) -> str:
    if not after:
        return f"only the first has {_listed(a, before)}"
    if not before:
        return f"only the second has {_listed(b, after)}"
    return f"the first has {_listed(a, before)} where the second has {_listed(b, after)}"


def _listed(side: Side, nodes: Sequence[NodeProto]) -> str:
    names = [f"{node.op_type} {side.title(node).removeprefix('main / ')}" if node.name else node.op_type for node in nodes]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _attributes(a: Side, old: NodeProto, b: Side, new: NodeProto) -> list[str]:
    first, second = (_values(side, node) for side, node in ((a, old), (b, new)))
    names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    return [f"{name} {first.get(name, 'absent')} became {second.get(name, 'absent')}" for name in names]


def _values(side: Side, node: NodeProto) -> dict[str, Any]:
    """Attributes that are no graphs, with the defaults of the operator; how tensors differ is for `_constants` to tell."""
    found = {name: value for name, value in defaults(side, node).items() if value is not None}
    for attribute in node.attribute:
        if not attribute.ref_attr_name and not attribute.HasField("g") and not attribute.HasField("t"):
            value = helper.get_attribute_value(attribute)
            found[attribute.name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if node.op_type in STEPS:
        idle = {"output_dtype", "precision", *(() if found.get("block_size") else ("block_size",))}
        idle |= set() if _shape(side, node) else {"axis"}
        found = {name: value for name, value in found.items() if name not in idle}
    return found


def _shape(side: Side, node: NodeProto) -> tuple[int, ...]:
    """Of the scale; () where one holds for all, and no axis counts."""
    scale = side.constant(node.input[1]) if len(node.input) > 1 else None
    return (1,) if scale is None else scale.shape if scale.size > 1 else ()


def _constants(a: Side, old: NodeProto, b: Side, new: NodeProto) -> list[str]:
    """Operands that are constants in both; an absent zero point is one of zeros."""
    found = []
    for slot in range(max(len(old.input), len(new.input))):
        first, second = _operand(a, old, slot), _operand(b, new, slot)
        what = role(a, old, slot)
        if what == "zero point" and (first is None) != (second is None):
            first, second = (_or_zero(x, y) for x, y in ((first, second), (second, first)))
        name = old.input[slot] if slot < len(old.input) and old.input[slot] else ""
        if first is not None and second is not None and (words := pattern(first, second)):
            found.append(f"{what}{f' {name}' if name else ''}: {words}")
        elif _given(old, slot) != _given(new, slot) and what != "zero point":
            found.append(f"{what}: only the {'first' if _given(old, slot) else 'second'} has it")
    return found


def _given(node: NodeProto, slot: int) -> bool:
    return slot < len(node.input) and bool(node.input[slot])


def _or_zero(values: Array | None, other: Array | None) -> Array | None:
    if values is not None or other is None:
        return values
    return (other * 0).astype(other.dtype) if dtypes.of_numpy(other.dtype).integer else None


def _operand(side: Side, node: NodeProto, slot: int) -> Array | None:
    return side.constant(node.input[slot]) if slot < len(node.input) and node.input[slot] else None


def _bodies(a: Side, old: NodeProto, b: Side, new: NodeProto) -> list[str]:
    """Graphs that the nodes hold, functions that they call, and tensors in attributes."""
    found = []
    graphs = [{x.name: x.g.SerializeToString(deterministic=True) for x in node.attribute if x.HasField("g")} for node in (old, new)]
    found += [f"graph {name} is another one" for name in graphs[0] if graphs[0][name] != graphs[1].get(name)]
    bodies = [side.functions.get((node.domain, node.op_type)) for side, node in ((a, old), (b, new))]
    if bodies[0] is not None and bodies[0] != bodies[1]:
        found.append(f"function {old.op_type} is another one")
    return found
