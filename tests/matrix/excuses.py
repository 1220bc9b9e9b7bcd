"""When a refusal is right: found on the original and onnx.defs alone, and a table of the few other forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, inliner, shape_inference

from tests.judging.validity import MICROSOFT_CODES

SMALL_FLOATS = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float4e2m1", "float6e2m3", "float6e3m2")
PAIRS_FROM = 9  # Where, which a fake-quantized pair needs

# (form, targets) -> why no exact rewrite is asked for; at most 40 rows.
_CONV = "Conv takes bfloat16 from opset 22 on; casting around an operator that is not ours is no lossless move"
_BFLOAT16 = "the quotient is rounded to bfloat16, a type no operator knows below opset 13"
_RANK = "one scale for each index of an axis of a tensor whose rank only the run tells: the scale's shape cannot be written down"
TABLE: dict[tuple[str, tuple[int, ...]], str] = {
    ("dq-conv", (13, 17, 19, 21)): _CONV,
    ("qdq-conv", (13, 17, 19, 21)): _CONV,
    ("scan-rows", (7,)): "Scan came with opset 8, and in its present form with 9",
    ("mixed-types", (7, 10, 11)): _BFLOAT16,
    ("precision-bfloat16", (7, 10, 11)): _BFLOAT16,
    ("unknown-rank", (7, 10, 11, 13, 17, 19, 21)): _RANK,
}


@cache
def known(target: int) -> frozenset[str]:
    """Element types that any operator of the main domain takes or gives at `target`."""
    latest: dict[str, onnx.defs.OpSchema] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= target and schema.since_version >= latest.get(schema.name, schema).since_version:
            latest[schema.name] = schema
    allowed = {text for s in latest.values() for c in s.type_constraints for text in c.allowed_type_strs}
    return frozenset(m.group(1) for text in allowed if (m := re.fullmatch(r"tensor\((\w+)\)", text)))


def _name(code: int) -> str:
    return TensorProto.DataType.Name(code).lower()


def excuse(original: ModelProto, form: str, target: int) -> str:
    """The letter of the excuse for refusing: p(ort), q(uantized at run time to a small float), t(able), or nothing."""
    types = set(known(target)) | (set(MICROSOFT_CODES) if any(i.domain == "com.microsoft" for i in original.opset_import) else set())
    if any(_name(p.type.tensor_type.elem_type) not in types for p in (*original.graph.input, *original.graph.output)):
        return "p"
    if any(storage not in types and not (target >= PAIRS_FROM and plain_pair) for storage, plain_pair in small_float_steps(original)):
        return "q"
    return "t" if any(form == f and target in targets for f, targets in TABLE) else ""


def small_float_steps(model: ModelProto) -> list[tuple[str, bool]]:
    """(storage, read by DequantizeLinear alone in float32) of each QuantizeLinear to a float8, float6 or float4."""
    flat = inliner.inline_local_functions(model) if model.functions else model
    return list(_steps(shape_inference.infer_shapes(flat, data_prop=True).graph, {}))


def _steps(graph: GraphProto, outer: dict[str, str]) -> Iterator[tuple[str, bool]]:
    types = {**outer, **{v.name: _name(v.type.tensor_type.elem_type) for v in (*graph.value_info, *graph.input, *graph.output)}}
    types |= {t.name: _name(t.data_type) for t in graph.initializer}
    for node in graph.node:
        for a in node.attribute:
            if a.HasField("g"):
                yield from _steps(a.g, types)
        storage = types.get(node.output[0], "") if node.op_type == "QuantizeLinear" else ""
        if storage in SMALL_FLOATS:
            yield storage, _plain_pair(node, graph, types)


def _plain_pair(node: NodeProto, graph: GraphProto, types: dict[str, str]) -> bool:
    """Saturating, float32 throughout, and only DequantizeLinear reads the codes."""
    readers = [n for n in graph.node if node.output[0] in n.input]
    attributes = {a.name: a.i for a in node.attribute}
    plain = attributes.get("saturate", 1) == 1 and all(types.get(n, "float") == "float" for n in node.input[:2])
    escapes = node.output[0] in {o.name for o in graph.output}
    return plain and not escapes and bool(readers) and all(n.op_type == "DequantizeLinear" for n in readers)
