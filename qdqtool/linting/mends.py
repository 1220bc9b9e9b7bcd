"""The small changes of the protobuf that fixes of the specification's rules are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import FunctionProto, NodeProto, helper

from qdqtool.dtypes import ElementType
from qdqtool.expressions import Const, is_const, known
from qdqtool.findings import Fix
from qdqtool.kernels.sources import materialize
from qdqtool.linting.forms import Form
from qdqtool.linting.subject import Subject
from qdqtool.model import tensors
from qdqtool.model.graph import Place, Scope, Use

Array = np.ndarray[Any, Any]


def attribute(subject: Subject, place: Place, name: str, value: int) -> Fix:
    """An integer attribute written, or written otherwise."""
    return Fix(f"write {name}={value}", True, lambda: _set(subject.node(place), name, value))


def only_axis(subject: Subject, place: Place, form: Form) -> Fix | None:
    """The axis of a vector, which has one."""
    return attribute(subject, place, "axis", 0) if len(form.x.shape or ()) == 1 and form.row.axis else None


def other_axis(subject: Subject, place: Place, form: Form) -> Fix | None:
    """The one axis along which the blocks fit."""
    return None if form.only_axis is None else attribute(subject, place, "axis", form.only_axis)


def shaped_like_scale(subject: Subject, place: Place, form: Form) -> Fix | None:
    """The zero point in the shape of the scale, where that is known."""
    shape = known(form.scale.shape)
    return None if shape is None else reshaped(subject, place, shape)


def _set(node: NodeProto, name: str, value: int) -> None:
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def zeros(subject: Subject, place: Place, dtype: ElementType, shape: tuple[int, ...]) -> Fix:
    """A zero point of zeros, for a step that has none."""
    title = f"add a zero point of type {dtype} and shape {list(shape)}"
    return Fix(title, True, lambda: _operand(subject, place, np.zeros(shape, dtype.numpy)))


def reshaped(subject: Subject, place: Place, shape: tuple[int, ...]) -> Fix | None:
    """The zero point in another shape, a single one repeated; None where its values are not known here."""
    zero = subject.steps[place].step.zero_point
    if not is_const(zero) or int(np.prod(zero.shape)) not in (1, int(np.prod(shape))):
        return None
    return Fix(f"give the zero point the shape {list(shape)}", True, lambda: _operand(subject, place, _values(subject, zero, shape)))


def _values(subject: Subject, zero: Const, shape: tuple[int, ...]) -> Array:
    values = materialize(subject.source(zero)).reshape(-1)
    return np.full(shape, values[0]) if values.size == 1 else values.reshape(shape)


def _operand(subject: Subject, place: Place, values: Array) -> None:
    node, scope, at = subject.node(place), subject.scope(place), subject.steps[place].source.order[2]
    old = node.input[at] if at < len(node.input) else ""
    node.input.extend([""] * (at + 1 - len(node.input)))
    node.input[at] = new_constant(subject, scope, node, f"{next(o for o in node.output if o)}_zero_point", values)
    if old:
        forget(subject, place, at, old)


def new_constant(subject: Subject, scope: Scope, node: NodeProto, wanted: str, values: Array) -> str:
    """A new initializer of a scope, in a function a Constant node before `node`; returns its name."""
    tensor = tensors.make(subject.names.fresh(wanted), values)
    if isinstance(scope.body, FunctionProto):
        made = helper.make_node("Constant", [], [tensor.name], value=tensor)
        scope.body.node.insert(next(i for i, n in enumerate(scope.body.node) if n is node or n == node), made)
    else:
        scope.body.initializer.append(tensor)
    return tensor.name


def forget(subject: Subject, place: Place, slot: int, name: str) -> None:
    """Take away an initializer that has lost its last reader."""
    found = subject.view.find(subject.scope(place), name)
    if found is None or found.kind != "initializer":
        return
    readers = subject.view.uses[found.key]
    readers.remove(Use(place, slot))
    body = subject.view.scopes[found.key.scope].body
    if readers or found.key in subject.view.results or isinstance(body, FunctionProto):
        return
    at = next((i for i, t in enumerate(body.initializer) if t.name == name), None)
    if at is not None and not any(value.name == name for value in body.input):
        del body.initializer[at]
