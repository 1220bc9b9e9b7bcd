"""Operands whose types the graph does not tell: what the schema lets us conclude, and where not knowing does harm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool.dtypes import ElementType
from qdqtool.opsets import schemas
from qdqtool.opsets.forms import Form, Operand, formal, placed
from qdqtool.opsets.problems import listed
from qdqtool.opsets.schemas import Formal, Schema, Type
from qdqtool.opsets.type_rules import bindings


def filled(form: Form, schema: Schema) -> Form:
    """With every unknown type that follows from the others, or from a parameter that allows one type only."""
    if None not in form.inputs and None not in form.outputs:
        return form
    bound = bindings(form, schema)

    def settle(parameters: tuple[Formal, ...], index: int, operand: Operand) -> Operand:
        parameter = formal(parameters, index)
        if operand is not None or parameter is None:
            return operand
        candidates = bound.get(parameter.variable) or _sequence(form) or tuple(parameter.allowed)
        return candidates[0] if len(candidates) == 1 else None

    inputs = tuple(settle(schema.inputs, i, operand) for i, operand in enumerate(form.inputs))
    outputs = tuple(settle(schema.outputs, i, operand) for i, operand in enumerate(form.outputs))
    return replace(form, inputs=inputs, outputs=outputs)


_SEQUENCES = ("SequenceConstruct", "SplitToSequence")


def _sequence(form: Form) -> tuple[Type, ...]:
    """The sequence of the elements that go in."""
    first = form.inputs[0] if form.inputs and form.op in _SEQUENCES else None
    return (schemas.sequence_of(first),) if isinstance(first, ElementType) else ()


def unknown(form: Form, old: Schema, new: Schema, target: int) -> Iterator[str]:
    """Why not knowing a type matters: the allowed types shrank, or types must now be equal that could differ."""
    if None not in form.inputs and None not in form.outputs:
        return
    before = {(is_output, index): parameter for is_output, index, parameter, _ in placed(form, old)}
    told = set()
    for is_output, index, parameter, operand in placed(form, new):
        was, key = before.get((is_output, index)), parameter.variable or parameter.name
        if operand is None and was is not None and key not in told and (lost := was.allowed - parameter.allowed):
            told.add(key)
            yield f"the type of {parameter.name} is not known here, and {form.op} accepts no {_some(lost)} at opset {target}"
    for variable in _tightened(form, before, new):
        names = listed(p.name for _, _, p, _ in placed(form, new) if p.variable == variable)
        yield f"{form.op} wants one type for {names} at opset {target}, and not all of them are known here"


def _tightened(form: Form, before: dict[tuple[bool, int], Formal], new: Schema) -> Iterator[str]:
    groups: dict[str, list[tuple[str, Operand]]] = {}
    for is_output, index, parameter, operand in placed(form, new):
        was = before.get((is_output, index))
        if parameter.variable and was is not None:
            groups.setdefault(parameter.variable, []).append((was.variable, operand))
    for variable, members in groups.items():
        links = {was for was, _ in members}
        if len(members) > 1 and any(operand is None for _, operand in members) and (len(links) > 1 or "" in links):
            yield variable


def _some(types: frozenset[Type]) -> str:
    names = sorted(str(t) for t in types)
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
