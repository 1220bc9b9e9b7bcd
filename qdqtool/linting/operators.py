"""What ``onnx.defs`` says against the nodes of a model, at the opset that each scope imports."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from onnx import AttributeProto, NodeProto, defs

from qdqtool.capabilities import operators, row_at
from qdqtool.dtypes import ElementType
from qdqtool.model.graph import Place, Scope, ScopePath, domain
from qdqtool.opsets import forms, legality, schemas
from qdqtool.opsets.attributes import KINDS
from qdqtool.opsets.problems import Problem as Reason
from qdqtool.plan.types import Types

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject


Kind = Literal[
    "operator",
    "unknown attribute",
    "missing attribute",
    "attribute of another kind",
    "input",
    "output",
    "type",
    "link",
    "value",
    "value of no opset",
]


class Illegal(NamedTuple):
    """A node, and one thing that its schema does not allow."""

    place: Place
    kind: Kind
    reason: Reason


def reasons(subject: Subject, *kinds: Kind) -> Iterator[tuple[Place, Reason]]:
    """The nodes that are illegal in these ways."""
    yield from ((found.place, found.reason) for found in subject.illegal if found.kind in kinds)


class Dtypes(dict[str, ElementType | None]):
    """Element types of a scope by name, looked up when first asked for; what is set to None counts as unknown."""

    def __init__(self, types: Types, scope: Scope) -> None:
        super().__init__(types.within(scope) if scope.parent is None else {})
        self._types, self._scope = types, scope

    def __missing__(self, name: str) -> ElementType | None:
        found = self[name] = self._types.at(self._scope, name).dtype if name else None
        return found


def illegal(subject: Subject) -> list[Illegal]:
    """Everything that is illegal; types of steps are left to the rules that know their tables."""
    return list(_illegal(subject))


def _illegal(subject: Subject) -> Iterator[Illegal]:
    view, types = subject.view, subject.types
    by_scope: dict[ScopePath, Dtypes] = {}
    legal = set[Hashable]()
    for place, scope, node in view.places():
        known = by_scope[scope.path] if scope.path in by_scope else by_scope.setdefault(scope.path, Dtypes(types, scope))
        key = _key(scope, node, known)
        if key is not None and key in legal:
            continue
        dom = domain(node.domain)
        version = scope.imports.get(dom)
        if (dom, node.op_type) in operators() and not schemas.known_domain(dom):
            yield from (Illegal(place, kind, reason) for kind, reason in _by_table(node, version or 1))
        if version is None or not schemas.known_domain(dom) or (view.functions and view.function_of(node) is not None):
            continue
        shape = forms.of_node(node, known.__getitem__)
        found = legality.problems(shape, version)
        yield from (Illegal(place, _kind(shape, reason, version), reason) for reason in _said((dom, node.op_type) in operators(), found))
        if key is not None and not found:
            legal.add(key)
        if any(reason.kind in ("type", "link") for reason in found):
            # What inference makes of such a node says nothing about those behind it.
            known.update(dict.fromkeys(node.output))


def _key(scope: Scope, node: NodeProto, known: Dtypes) -> Hashable:
    """What the verdict on a node depends on, which most share with many; None for one with attributes that are no single numbers."""
    attributes = tuple((a.name, a.type, a.i, a.ref_attr_name) for a in node.attribute) if node.attribute else ()
    if attributes and any(kind != AttributeProto.INT for _, kind, *_ in attributes):
        return None
    inputs, outputs = tuple(node.input[:]), tuple(node.output[:])
    absent = tuple(map(bool, inputs + outputs)) if "" in inputs or "" in outputs else ()
    root = scope.path if scope.parent is None else scope.root().path
    types = tuple(map(known.__getitem__, inputs)), tuple(map(known.__getitem__, outputs))
    return root, node.op_type, node.domain, node.overload, types, absent, attributes


def _by_table(node: NodeProto, version: int) -> Iterator[tuple[Kind, Reason]]:
    """A step of a domain that ``onnx.defs`` does not describe, against its row, where that is shaped like ONNX's own."""
    row = row_at(*operators()[domain(node.domain), node.op_type], version)
    if row is None or row.order != (0, 1, 2):
        return
    for slot, name in enumerate(("x", f"{'y' if row.kind == 'quantize' else 'x'}_scale")):
        if slot >= len(node.input) or not node.input[slot]:
            yield "input", Reason("input", name, f"{row} needs its input {name}")
    if len(node.input) > 3:
        yield "input", Reason("input", "too many", f"{row} has at most 3 inputs, not {len(node.input)}")
    if len(node.output) > 1:
        yield "output", Reason("output", "too many", f"{row} has at most 1 output, not {len(node.output)}")
    for attribute in node.attribute:
        if attribute.name not in row.attributes:
            yield "unknown attribute", Reason("attribute", attribute.name, f"{row} has no attribute {attribute.name}")
        elif attribute.type != AttributeProto.INT and not attribute.ref_attr_name:
            found = KINDS.get(attribute.type, "UNDEFINED")
            text = f"the attribute {attribute.name} of {row} must be of kind INT, not {found}"
            yield "attribute of another kind", Reason("attribute", attribute.name, text)


def _said(step: bool, found: Iterable[Reason]) -> Iterator[Reason]:
    """The types of steps have rules of their own, and of an operand of a wrong type it is not said that it differs from others."""
    kinds = {reason.kind for reason in found}
    left_out = {"type", "link"} if step else {"link"} if "type" in kinds else set()
    yield from (reason for reason in found if reason.kind not in left_out)


def _kind(shape: forms.Form, reason: Reason, version: int) -> Kind:
    if reason.kind == "value":
        later = legality.problems(shape, defs.onnx_opset_version())
        return "value of no opset" if any((p.kind, p.subject) == ("value", reason.subject) for p in later) else "value"
    if reason.kind != "attribute":
        return reason.kind
    if reason.subject not in shape.values():
        return "missing attribute"
    schema = schemas.schema(shape.op, shape.domain, version)
    return "attribute of another kind" if schema and reason.subject in schema.attributes else "unknown attribute"
