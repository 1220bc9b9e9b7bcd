"""Functions that are not planned like a graph: those that nobody calls, and those whose calls differ but whose body, under each
call, means the same at the target as it stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from onnx import FunctionProto, ModelProto, ValueInfoProto, helper

from qdqtool.model.graph import Place, Scope, View
from qdqtool.plan.entries import Plan
from qdqtool.plan.legal import node_problems
from qdqtool.plan.types import Variant, resolved, typed

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder


def settle(builder: Builder) -> None:
    """Decide which functions stay as they are or go, and refuse those whose arguments the target cannot pass."""
    for path in builder.types.uncalled:
        _uncalled(builder, builder.view.scopes[path])
    for path, calls in builder.types.conflicts.items():
        bodies = (_as_model(builder.view, builder.view.scopes[path], call) for call in calls)
        if all(_untouched(builder.again(body).build()) for body in bodies):
            builder.settled.add(path)
    for place in [p for p in builder.lifted if builder.root(p) in builder.settled]:
        del builder.lifted[place]
    for path, signature in builder.types.signatures.items():
        late = [t.dtype for t in signature if t.dtype is not None and t.dtype.since > builder.target.opset]
        if late:
            builder.refuser.function(builder.view.scopes[path], late[0])


def _uncalled(builder: Builder, scope: Scope) -> None:
    """A body whose types nobody gives stays if the target knows all its operators and attributes, else it goes."""
    builder.settled.add(scope.path)
    inside = [s for s in builder.view.scopes.values() if s.root() is scope]
    if any(node_problems(node, builder.target.opset) for s in inside for node in s.nodes):
        builder.plan.drops.add(scope.path)
        builder.plan.notes.append(f"{scope.title()} is never called, and the target cannot say it: dropped")


def _as_model(view: View, scope: Scope, variant: Variant) -> ModelProto:
    """The body as a main graph, with the types and attributes of one call."""
    assert isinstance(scope.body, FunctionProto)
    model = ModelProto(ir_version=view.proto.ir_version, functions=view.proto.functions)
    model.opset_import.extend(helper.make_opsetid(name, version) for name, version in scope.imports.items())
    model.graph.name = scope.body.name
    model.graph.input.extend(typed(name, known) for name, known in zip(scope.inputs, variant.inputs, strict=False))
    model.graph.output.extend(ValueInfoProto(name=name) for name in scope.outputs)
    model.graph.node.extend(resolved(node, variant.bindings) for node in scope.nodes)
    return model


def _untouched(plan: Plan) -> bool:
    """Nothing in the main graph changes or is refused."""
    touched: Iterable[Place] = (
        *plan.replaces,
        *plan.respells,
        *plan.hoists,
        *plan.adapts,
        *(entry.place for entry in plan.rewires),
        *(entry.place for entry in plan.edits),
    )
    places = any(place.scope[:1] != ("function",) for place in touched)
    return not places and not any(r.scope[:1] != ("function",) for r in plan.refusals)
