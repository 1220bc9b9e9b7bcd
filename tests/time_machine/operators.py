"""One-node models of every main-domain operator version, which tell whether a wheel has a kernel (or a body it can expand)."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from onnx import TensorProto, TypeProto, defs, helper

from qdqtool import dtypes

PREFERRED = ("float", "int64", "uint8", "bool", "string", "int32", "int8")
"""Types that are tried; an operator version lacks a kernel when it has one for none of them."""
CODES = (
    *("int8", "uint8", "int16", "uint16", "int32", "int4", "uint4", "int2", "uint2", "float4e2m1", "float16", "bfloat16", "float"),
    *("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"),
)
TYPED = (
    *("Cast", "Transpose", "Reshape", "Gather", "GatherElements", "GatherND", "Concat", "Slice", "Split", "Pad", "Squeeze", "Unsqueeze"),
    *("Flatten", "Identity", "Expand", "Tile", "Where", "DepthToSpace", "SpaceToDepth", "ScatterElements", "ScatterND", "Compress"),
    *("ReverseSequence", "Add", "Sub", "Mul", "Div", "Clip", "Round", "Relu", "Max", "Min", "MaxPool", "Equal", "Less", "LessOrEqual"),
    *("Greater", "ReduceMax", "ReduceMin", "Constant", "Shape", "Size", "BitShift", "BitwiseAnd", "Mod", "Abs", "Not"),
)
"""Operators that move codes or that lowerings write: measured for every type that holds codes or scales."""
SUBGRAPHS = ("If", "Loop", "Scan", "SequenceMap")
"""Not loaded: every wheel has them."""
MISSING = "Could not find an implementation"
FIRST = 7

_KINDS = defs.OpSchema.AttrType
_VALUES: dict[Any, Any] = {
    _KINDS.INT: 1,
    _KINDS.FLOAT: 1.0,
    _KINDS.STRING: "",
    _KINDS.INTS: [1, 1],
    _KINDS.FLOATS: [1.0],
    _KINDS.STRINGS: ["a"],
    _KINDS.TENSOR: helper.make_tensor("a", TensorProto.FLOAT, [1], [1.0]),
}
_NAMED = {"equation": "ij,jk->ik", "mode": "nearest", "kernel_shape": [1, 1], "direction": "LEFT", "to": 1, "dtype": 1, "hidden_size": 2}


def schemas(newest: int) -> list[defs.OpSchema]:
    """Versions of operators that some opset from 7 to `newest` uses, but Q and DQ, whose forms are measured one by one."""
    known = [s for s in defs.get_all_schemas_with_history() if s.domain == "" and s.since_version <= newest and not s.deprecated]
    spelled = [s for s in known if s.name not in (*SUBGRAPHS, "QuantizeLinear", "DequantizeLinear")]
    return [s for s in spelled if _next(s, known) > FIRST and str(s.support_level).endswith("COMMON")]


def _next(schema: defs.OpSchema, known: list[defs.OpSchema]) -> int:
    return min((s.since_version for s in known if s.name == schema.name and s.since_version > schema.since_version), default=99)


def jobs(schema: defs.OpSchema) -> Iterator[dict[str, Any]]:
    """The operator with each type that it is asked about and allows."""
    allowed = {t for c in schema.type_constraints for t in c.allowed_type_strs}
    typed = (kind for kind in CODES if schema.name in TYPED and f"tensor({kind})" in allowed)
    for kind in dict.fromkeys((*PREFERRED, *typed)):
        for to in _results(schema, kind):
            model = base64.b64encode(_model(schema, kind, to)).decode()
            yield {"id": f"op:{schema.name}:{schema.since_version}:{kind}:{to}", "only_load": True, "model": model}


def _results(schema: defs.OpSchema, kind: str) -> tuple[str, ...]:
    """A Cast is asked about both ways between its type and float32."""
    return ("", kind) if schema.name == "Cast" and kind != "float" else ("",)


PAIRED = {"MatMulInteger": (0, 1), "ConvInteger": (0, 1), "QLinearMatMul": (0, 3), "QLinearConv": (0, 3)}
"""Operators on two quantized operands, with their places: measured for each pair of types."""


def paired_jobs(newest: int) -> Iterator[dict[str, Any]]:
    """Each pair of 8-bit types; the id names it ``first:second``."""
    for schema in schemas(newest):
        if schema.name in PAIRED:
            for first, second in itertools.product(("int8", "uint8"), repeat=2):
                model = base64.b64encode(_paired(schema, first, second)).decode()
                yield {"id": f"pair:{schema.name}:{schema.since_version}:{first}:{second}", "only_load": True, "model": model}


def _paired(schema: defs.OpSchema, first: str, second: str) -> bytes:
    kinds = [first, second]
    if schema.name.startswith("QLinear"):
        kinds = [first, "float", first, second, "float", second, "float", first]
    values = [helper.make_value_info(f"i{k}", _type(f"tensor({kind})")) for k, kind in enumerate(kinds)]
    node = helper.make_node(schema.name, [v.name for v in values], ["o"])
    graph = helper.make_graph([node], "g", values, [helper.make_value_info("o", TypeProto())])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", max(schema.since_version, FIRST))], ir_version=8)
    return bytes(model.SerializeToString())


def lost_pairs(answers: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """By operator and version, the pairs of types without kernel, from error messages by id."""
    found: dict[str, dict[str, str]] = {}
    for key, error in answers.items():
        _, op, version, first, second = key.split(":")
        if MISSING in error:
            known = found.setdefault(op, {}).get(version, "")
            found[op][version] = f"{known} {first}:{second}".strip()
    return found


def lacking(answers: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """By operator and version, the types without kernel, or ``*``, from error messages by id (empty: it loads).

    An operator that loads with no type for other reasons than kernels is taken for present: its model asked for more.
    """
    asked: dict[tuple[str, str], dict[str, list[str]]] = {}
    for key, error in answers.items():
        _, op, version, kind, _ = key.split(":")
        asked.setdefault((op, version), {}).setdefault(_ours(kind), []).append(error)
    found: dict[str, dict[str, str]] = {}
    for (op, version), types in asked.items():
        failing = {name for name, errors in types.items() if any(errors)}
        if len(failing) == len(types):
            said = "*" if all(MISSING in error for name in PREFERRED for error in types[_ours(name)]) else ""
        else:
            said = " ".join(name for name in map(_ours, CODES) if name in failing and op in TYPED)
        if said:
            found.setdefault(op, {})[version] = said
    return found


def _ours(kind: str) -> str:
    return {"float": "float32"}.get(kind, kind)


def _model(schema: defs.OpSchema, kind: str, to: str) -> bytes:
    preferred = "float" if to else kind
    types = {c.type_param_str: _chosen(c.allowed_type_strs, f"tensor({preferred})") for c in schema.type_constraints}
    inputs = [p for p in schema.inputs if not str(p.option).endswith("Optional")]
    outputs = [p for p in schema.outputs if not str(p.option).endswith("Optional")] or list(schema.outputs[:1])
    names = [f"i{k}" for k in range(len(inputs))], [f"o{k}" for k in range(len(outputs))]
    node = helper.make_node(schema.name, *names, **_attributes(schema, kind, to))
    values = [helper.make_value_info(n, _type(types.get(p.type_str, p.type_str))) for n, p in zip(names[0], inputs, strict=True)]
    graph = helper.make_graph([node], "g", values, [helper.make_value_info(n, TypeProto()) for n in names[1]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", max(schema.since_version, FIRST))], ir_version=8)
    return bytes(model.SerializeToString())


def _attributes(schema: defs.OpSchema, kind: str, to: str) -> dict[str, Any]:
    if schema.name == "Constant":
        known = dtypes.of_name(_ours(kind)) if kind not in ("string", "bool") else dtypes.FLOAT
        return {"value": TensorProto(data_type=known.code, dims=[1], raw_data=bytes(known.nbytes(1)))}
    named = dict(_NAMED) | ({"to": dtypes.of_name(_ours(to)).code if to not in ("string", "bool") else TensorProto.BOOL} if to else {})
    needed = [n for n, a in schema.attributes.items() if a.required or n == "hidden_size"]
    return {n: named.get(n, _VALUES.get(schema.attributes[n].type)) for n in needed}


def _chosen(allowed: Any, preferred: str) -> str:
    wanted = [preferred, f"seq({preferred})", f"optional({preferred})", *(f"tensor({t})" for t in PREFERRED), "seq(tensor(float))"]
    return next((w for w in wanted if w in allowed), min(allowed))


def _type(text: str) -> TypeProto:
    if text.startswith("seq("):
        return helper.make_sequence_type_proto(_type(text[4:-1]))
    if text.startswith("optional("):
        return helper.make_optional_type_proto(_type(text[9:-1]))
    name = text.removeprefix("tensor(").removesuffix(")").upper()
    return helper.make_tensor_type_proto(TensorProto.DataType.Value(name), None)
