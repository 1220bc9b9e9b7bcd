"""How elements travel through operators that only move them: from inputs to outputs, in and out of the bodies of If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnx import NodeProto

from qdqtool.model.graph import Place, Scope, Use, View, domain

MOVERS: Mapping[str, tuple[int, ...] | None] = {
    **dict.fromkeys(
        (
            *("Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Split", "Expand", "Tile", "Compress"),
            *("Gather", "GatherElements", "GatherND", "DepthToSpace", "SpaceToDepth", "ReverseSequence"),
        ),
        (0,),
    ),
    "Concat": None,
    "Where": (1, 2),
}
"""Operators that only move elements, with the inputs that hold them; None means all."""

Owner = tuple[Place, Scope, NodeProto, str]
Linked = Iterator[tuple[Scope, str]]


def owner_of(scope: Scope) -> Owner | None:
    """The node that holds a body."""
    if scope.parent is None:
        return None
    index, attribute = int(scope.path[-2]), scope.path[-1]
    return Place(scope.parent.path, index), scope.parent, scope.parent.nodes[index], attribute


def _states(node: NodeProto, body: Scope) -> int:
    """How many values a Loop or Scan carries round."""
    if node.op_type == "Loop":
        return len(node.input) - 2
    return len(body.inputs) - next((a.i for a in node.attribute if a.name == "num_scan_inputs"), 0)


def links_back(view: View, place: Place, node: NodeProto, slot: int) -> Linked:
    """Values whose elements output `slot` of a mover holds."""
    scope = view.scopes[place.scope]
    bodies = [scope.children[key] for key in scope.children if key[0] == place.index]
    if domain(node.domain):
        return
    if node.op_type == "If":
        yield from ((body, body.outputs[slot]) for body in bodies)
    elif node.op_type in ("Loop", "Scan"):
        offset = 1 if node.op_type == "Loop" else 0
        yield from ((body, body.outputs[slot + offset]) for body in bodies)
        if slot < _states(node, bodies[0]):
            yield scope, node.input[slot + 2 * offset]
    elif node.op_type in MOVERS:
        yield from ((scope, node.input[i]) for i in _data(node))


def links_forward(view: View, use: Use, node: NodeProto) -> Linked:
    """Values that receive the elements of input `use.slot` of a mover."""
    scope = view.scopes[use.place.scope]
    if domain(node.domain):
        return
    if node.op_type in ("Loop", "Scan"):
        body = next(scope.children[key] for key in scope.children if key[0] == use.place.index)
        offset = 2 if node.op_type == "Loop" else 0
        if use.slot >= offset:
            yield body, body.inputs[use.slot]
            if use.slot - offset < _states(node, body):
                yield scope, node.output[use.slot - offset]
    elif node.op_type in MOVERS and use.slot in _data(node):
        yield from ((scope, name) for name in node.output if name)
        yield from ((scope, node.input[i]) for i in _data(node) if i != use.slot)


def links_out_of_body(owner: Owner, body: Scope, position: int) -> Linked:
    """Values outside that input `position` of a Loop or Scan body takes its elements from."""
    _, scope, node, _ = owner
    if node.op_type not in ("Loop", "Scan"):
        return
    offset = 2 if node.op_type == "Loop" else 0
    if position >= offset:
        yield scope, node.input[position]
        if position - offset < _states(node, body):
            yield body, body.outputs[position - (1 if offset else 0)]


def links_from_result(owner: Owner, body: Scope, position: int) -> Linked:
    """Values outside (and carried round) that output `position` of a body becomes."""
    _, scope, node, _ = owner
    offset = 1 if node.op_type == "Loop" else 0
    if position < offset:
        return
    if position - offset < len(node.output) and node.output[position - offset]:
        yield scope, node.output[position - offset]
    if node.op_type in ("Loop", "Scan") and position - offset < _states(node, body):
        yield body, body.inputs[position + (1 if node.op_type == "Loop" else 0)]


def _data(node: NodeProto) -> list[int]:
    slots = MOVERS[node.op_type]
    return [i for i in (range(len(node.input)) if slots is None else slots) if i < len(node.input) and node.input[i]]
