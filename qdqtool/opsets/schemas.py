"""What ``onnx.defs`` says about an operator at an opset, as plain data that is fast to ask again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from onnx import defs

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.opsets.attributes import Value, value

# Sequences, optionals and maps stay the strings that onnx writes, such as ``seq(tensor(float))``.
Type = ElementType | str

_OPTION = defs.OpSchema.FormalParameterOption


@dataclass(frozen=True, slots=True)
class Formal:
    """A formal input or output. `variable` is the type parameter it shares with others, or empty when its type is fixed."""

    name: str
    variable: str
    allowed: frozenset[Type]
    optional: bool
    variadic: bool
    least: int


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared attribute; `default` is None when there is none."""

    kind: str
    required: bool
    default: Value | None


@dataclass(frozen=True, slots=True)
class Schema:
    """One version of an operator."""

    op: str
    since: int
    deprecated: bool
    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    attributes: Mapping[str, Declared]


def canonical(domain: str) -> str:
    """The main domain is spelled both ways in files."""
    return "" if domain == "ai.onnx" else domain


@cache
def _versions() -> Mapping[tuple[str, str], tuple[int, ...]]:
    found: dict[tuple[str, str], list[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        found.setdefault((schema.domain, schema.name), []).append(schema.since_version)
    return {key: tuple(sorted(since)) for key, since in found.items()}


@cache
def known_domain(domain: str) -> bool:
    """Whether ``onnx.defs`` describes operators of that domain."""
    return any(known == canonical(domain) for known, _ in _versions())


def versions(op: str, domain: str = "") -> tuple[int, ...]:
    """Opsets that brought a new version of the operator, ascending; empty when there is no such operator."""
    return _versions().get((canonical(domain), op), ())


def operators(domain: str = "") -> tuple[str, ...]:
    """Names of all operators the domain ever had, sorted."""
    return tuple(sorted(name for known, name in _versions() if known == canonical(domain)))


@cache
def schema(op: str, domain: str, version: int) -> Schema | None:
    """The version of the operator in force at an opset; None when the opset has no such operator."""
    since = max((v for v in versions(op, domain) if v <= version), default=None)
    return None if since is None else _read(op, canonical(domain), since)


def history(op: str, domain: str = "") -> tuple[Schema, ...]:
    """Every version of the operator, oldest first."""
    return tuple(_read(op, canonical(domain), since) for since in versions(op, domain))


@cache
def _read(op: str, domain: str, since: int) -> Schema:
    found = defs.get_schema(op, since, domain)
    constraints = {c.type_param_str: _types(frozenset(c.allowed_type_strs)) for c in found.type_constraints}
    return Schema(
        op,
        since,
        found.deprecated,
        tuple(_formal(f, constraints) for f in found.inputs),
        tuple(_formal(f, constraints) for f in found.outputs),
        MappingProxyType({name: _declared(a) for name, a in sorted(found.attributes.items())}),
    )


def _formal(parameter: defs.OpSchema.FormalParameter, constraints: Mapping[str, frozenset[Type]]) -> Formal:
    variable = parameter.type_str if parameter.type_str in constraints else ""
    allowed = constraints[variable] if variable else _types(frozenset(parameter.types))
    variadic = parameter.option == _OPTION.Variadic
    # Operands of a heterogeneous variadic parameter share a list of allowed types, not a type.
    shared = variable if parameter.is_homogeneous or not variadic else ""
    optional = parameter.option == _OPTION.Optional
    least = parameter.min_arity if variadic else int(not optional)
    return Formal(parameter.name, shared, allowed, optional, variadic, least)


def _declared(attribute: defs.OpSchema.Attribute) -> Declared:
    default = value(attribute.default_value) if attribute.default_value.name else None
    kind = str(attribute.type).rpartition(".")[2]
    return Declared(kind, attribute.required, default)


_ONNX_NAMES = {"float": "float32", "double": "float64"}


@cache
def _types(names: frozenset[str]) -> frozenset[Type]:
    return frozenset(_type(name) for name in names)


@cache
def _type(name: str) -> Type:
    if not name.startswith("tensor("):
        return name
    inner = name.removeprefix("tensor(").removesuffix(")")
    return dtypes.of_name(_ONNX_NAMES.get(inner, inner))


def sequence_of(dtype: ElementType) -> Type:
    """The type of a sequence of such tensors, as onnx writes it."""
    name = next((onnx for onnx, ours in _ONNX_NAMES.items() if ours == dtype.name), dtype.name)
    return f"seq(tensor({name}))"
