"""Functions whose calls differ: does the body, under each call, mean the same at the target as it stands?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from onnx import FunctionProto, ModelProto, ValueInfoProto, helper

from qdqtool.model.graph import Place, Scope, View
from qdqtool.plan.entries import Plan
from qdqtool.plan.types import Types, Variant, resolved, typed


def stands(view: View, types: Types, scope: Scope, plan_of: Callable[[View], Plan]) -> bool:
    """Whether the body of a function can stay untouched under all of its calls."""
    return all(_untouched(plan_of(View(_as_model(view, scope, variant)))) for variant in types.conflicts[scope.path])


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
