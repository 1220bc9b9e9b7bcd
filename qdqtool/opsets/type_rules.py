"""Element types against a schema: those it allows, and those that must be equal."""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.opsets.attributes import stated_output_type
from qdqtool.opsets.forms import Form, formal, known, placed
from qdqtool.opsets.problems import Problem, aside, listed, when
from qdqtool.opsets.schemas import Formal, Schema, Type


def type_problems(shape: Form, schema: Schema, version: int) -> Iterator[Problem]:
    for is_output, index, parameter, operand in placed(shape, schema):
        if known(operand) and operand not in parameter.allowed:
            yield _bad_type(shape, schema, version, is_output, index, parameter, operand)
    # The attribute decides what is computed, whatever the graph says about the output.
    stated = stated_output_type(shape.op, shape.values())
    if stated is not None and stated not in schema.outputs[0].allowed:
        yield _bad_type(shape, schema, version, True, 0, schema.outputs[0], stated)


def _bad_type(shape: Form, schema: Schema, version: int, is_output: bool, index: int, parameter: Formal, operand: Type) -> Problem:
    hint = when(shape.op, shape.domain, version, lambda s: accepts(s, is_output, index, operand))
    subject = f"{parameter.variable or parameter.name} {operand}"
    return Problem("type", subject, _type_text(shape.op, schema, is_output, parameter, operand, hint))


def _type_text(op: str, schema: Schema, is_output: bool, parameter: Formal, operand: Type, hint: str) -> str:
    if op == "Cast" and hint.startswith("from"):
        return f"Cast {'to' if is_output else 'from'} {operand} needs {hint.removeprefix('from ')}"
    every = {f.variable or f.name for f in (*schema.inputs, *schema.outputs)}
    tied = [f.name for f in (*schema.inputs, *schema.outputs) if f.variable and f.variable == parameter.variable]
    role = "" if len(every) == 1 or len(schema.inputs) == 1 else f" as {listed(tied or [parameter.name])}"
    verb = "gives" if is_output and not any(f.variable == parameter.variable != "" for f in schema.inputs) else "accepts"
    return f"{op} {verb} {operand}{role} {hint}" if hint else f"{op} {verb} no {operand}{role}"


def accepts(schema: Schema, is_output: bool, index: int, operand: Type) -> bool:
    """Whether the schema allows the type at that position."""
    parameter = formal(schema.outputs if is_output else schema.inputs, index)
    return parameter is not None and operand in parameter.allowed


def link_problems(shape: Form, schema: Schema, version: int) -> Iterator[Problem]:
    for variable, bound in bindings(shape, schema).items():
        if len(bound) > 1:
            hint = aside(when(shape.op, shape.domain, version, lambda s: _consistent(shape, s)))
            types = listed(str(operand) for operand in bound)
            names = listed(p.name for _, _, p, _ in placed(shape, schema) if p.variable == variable)
            yield Problem("link", variable, f"{shape.op} wants one type for {names} at opset {version}, not {types}{hint}")


def _consistent(shape: Form, schema: Schema) -> bool:
    return all(len(bound) == 1 for bound in bindings(shape, schema).values())


def bindings(shape: Form, schema: Schema) -> dict[str, tuple[Type, ...]]:
    """The distinct known types behind each type parameter; a legal form has one for each."""
    bound: dict[str, dict[Type, None]] = {}
    for _, _, parameter, operand in placed(shape, schema):
        if parameter.variable and known(operand):
            bound.setdefault(parameter.variable, {})[operand] = None
    return {variable: tuple(found) for variable, found in bound.items()}
