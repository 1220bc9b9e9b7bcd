"""May an operator be written at an opset? Decided from ``onnx.defs`` and the few facts of `words`; reasons in users' words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from onnx import AttributeProto

from qdqtool.opsets import schemas
from qdqtool.opsets.forms import ABSENT, Form, Operand, form, formal
from qdqtool.opsets.problems import Problem, aside, when
from qdqtool.opsets.schemas import Formal, Schema
from qdqtool.opsets.type_rules import link_problems, type_problems
from qdqtool.opsets.value_rules import value_problems

__all__ = ["ABSENT", "Operand", "legal", "problems"]


def legal(
    op: str,
    domain: str,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    attributes: Mapping[str, AttributeProto],
    version: int,
) -> list[str]:
    """Reasons why an operator cannot be written at an opset; an empty list means that it can.

    Parameters
    ----------
    op, domain : str
        Operator. Domains that ``onnx.defs`` does not describe are not judged: their operators are legal.
    inputs, outputs : sequence of ElementType, str, None or ABSENT
        Types of the operands; sequences and optionals as the string onnx writes. None is an unknown type and passes.
    attributes : mapping of str to AttributeProto
        Attributes by name. One that states the output type (``to``, ``dtype`` ...) counts as that type.
    version : int
        Opset of `domain`.

    Notes
    -----
    Checks what the schema says (existence, deprecation, arity, attributes, allowed and linked types) and the words,
    negative axes and combinations listed in `words`. Shapes and values of operands are not looked at.
    """
    return [problem.text for problem in problems(form(op, domain, inputs, outputs, attributes), version)]


@lru_cache(maxsize=1 << 16)
def problems(shape: Form, version: int) -> tuple[Problem, ...]:
    """What `legal` finds, told apart by kind and subject."""
    if not schemas.known_domain(shape.domain):
        return ()
    schema = schemas.schema(shape.op, shape.domain, version)
    if schema is None or schema.deprecated:
        return (_no_operator(shape, schema, version),)
    found = [
        *_attributes(shape, schema, version),
        *_arity(shape, schema, version),
        *type_problems(shape, schema, version),
        *link_problems(shape, schema, version),
        *value_problems(shape, schema, version),
    ]
    return tuple(dict.fromkeys(found))


def _no_operator(shape: Form, schema: Schema | None, version: int) -> Problem:
    hint = aside(when(shape.op, shape.domain, version, lambda s: True))
    if schema is not None:
        return Problem("operator", shape.op, f"{shape.op} is deprecated at opset {version}{hint}")
    name = f"{shape.domain} {version}" if shape.domain else f"opset {version}"
    return Problem("operator", shape.op, f"{name} has no operator {shape.op}{hint}")


def _attributes(shape: Form, schema: Schema, version: int) -> Iterator[Problem]:
    names = set()
    for name, kind, _ in shape.attributes:
        names.add(name)
        declared = schema.attributes.get(name)
        if declared is None:
            hint = aside(when(shape.op, shape.domain, version, lambda s, name=name: name in s.attributes))  # type: ignore[misc]
            yield Problem("attribute", name, f"{shape.op} has no attribute {name} at opset {version}{hint}")
        elif kind != declared.kind:
            yield Problem("attribute", name, f"the attribute {name} of {shape.op} must be of kind {declared.kind}, not {kind}")
    for name, declared in schema.attributes.items():
        if declared.required and name not in names:
            yield Problem("attribute", name, f"{shape.op} needs the attribute {name} at opset {version}")


def _arity(shape: Form, schema: Schema, version: int) -> Iterator[Problem]:
    yield from _count("input", shape, shape.inputs, schema.inputs, version, lambda s: s.inputs)
    yield from _count("output", shape, shape.outputs, schema.outputs, version, lambda s: s.outputs)


def _count(
    kind: Literal["input", "output"],
    shape: Form,
    operands: Sequence[Operand],
    parameters: Sequence[Formal],
    version: int,
    of: Callable[[Schema], Sequence[Formal]],
) -> Iterator[Problem]:
    if operands and formal(parameters, len(operands) - 1) is None:
        hint = aside(when(shape.op, shape.domain, version, lambda s: formal(of(s), len(operands) - 1) is not None))
        most = f"{len(parameters)} {kind}{'s' * (len(parameters) != 1)}"
        yield Problem(kind, "too many", f"{shape.op} has at most {most} at opset {version}, not {len(operands)}{hint}")
    for index, parameter in enumerate(parameters):
        given = operands[index:] if parameter.variadic else operands[index : index + 1]
        if sum(operand is not ABSENT for operand in given) < parameter.least:
            hint = aside(when(shape.op, shape.domain, version, lambda s, i=index: _may_lack(of(s), i)))  # type: ignore[misc]
            yield Problem(kind, parameter.name, f"{shape.op} needs its {kind} {parameter.name} at opset {version}{hint}")


def _may_lack(parameters: Sequence[Formal], index: int) -> bool:
    return index >= len(parameters) or parameters[index].least == 0
