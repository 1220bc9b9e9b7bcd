"""Is a model legal at its opset? The checker's answer, and our own: types and attributes from onnx.defs, the shape rules of Q and DQ.

onnx.checker looks at none of those shape rules, and at no types inside functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, inliner, shape_inference
from onnx.defs import OpSchema

from tests.graphs.draft import RELEASE_IR
from tests.judging.feeds import graphs_of, nodes_of

MICROSOFT_CODES = {"int8", "uint8", "int16", "uint16", "int4", "uint4"}
NEEDS_IR = {
    TensorProto.BFLOAT16: 4,
    **dict.fromkeys(range(17, 21), 9),
    TensorProto.UINT4: 10,
    TensorProto.INT4: 10,
    TensorProto.FLOAT4E2M1: 11,
    TensorProto.FLOAT8E8M0: 12,
    TensorProto.UINT2: 13,
    TensorProto.INT2: 13,
    TensorProto.FLOAT6E2M3: 14,
    TensorProto.FLOAT6E3M2: 14,
}
Dims = tuple[int | None, ...] | None


@dataclass(frozen=True)
class Value:
    """What inference says of a value."""

    dtype: str
    dims: Dims


def invalid(model: ModelProto, target: int) -> list[str]:
    """Reasons why the model is no legal model at `target`; empty when it is."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:
        return [f"onnx.checker: {error}"]
    problems = [*_imports(model, target), *_ir(model), *_calls(model)]
    for function in model.functions:
        imports = {_domain(i.domain): i.version for i in function.opset_import}
        if imports.get("", target) != target:
            problems.append(f"function {function.name} imports opset {imports['']}")
        problems += [p for node in function.node for p in _attributes(node, imports, inside=True)]
    return problems or _typed(model)


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _imports(model: ModelProto, target: int) -> Iterator[str]:
    domains = [_domain(i.domain) for i in model.opset_import]
    if len(set(domains)) != len(domains):
        yield "an import is doubled"
    versions = {_domain(i.domain): i.version for i in model.opset_import}
    if versions.get("") != target:
        yield f"imports opset {versions.get('')} instead of {target}"
    for function in model.functions:
        if _domain(function.domain) not in versions:
            yield f"domain {function.domain} is not imported"


def _calls(model: ModelProto) -> Iterator[str]:
    """No model of the suite has custom operators: what no schema knows must be a function of the model."""
    defined = {(_domain(f.domain), f.name) for f in model.functions}
    imports = {_domain(i.domain): i.version for i in model.opset_import}
    for node in nodes_of(model):
        call = (_domain(node.domain), node.op_type)
        if call[0] not in ("", "com.microsoft") and call not in defined and _schema(node, imports) is None:
            yield f"nobody defines {call[0]}.{call[1]}"


def least_ir(model: ModelProto) -> int:
    """The lowest ir_version that may hold the model's element types and functions (3 where nothing asks for more)."""
    graphs = list(graphs_of(model))
    kinds = {t.data_type for g in graphs for t in g.initializer}
    kinds |= {p.type.tensor_type.elem_type for g in graphs for p in (*g.input, *g.output, *g.value_info)}
    kinds |= {a.t.data_type for n in nodes_of(model) for a in n.attribute if a.HasField("t")}
    features = [8 if model.functions else 3, 7 if model.training_info else 3, 6 if any(g.sparse_initializer for g in graphs) else 3]
    return max([NEEDS_IR.get(k, 3) for k in kinds] + features)


def _ir(model: ModelProto) -> Iterator[str]:
    least = least_ir(model)
    if model.ir_version < least:
        yield f"ir_version {model.ir_version} is below {least}, which its types or functions need"
    if model.ir_version > max(RELEASE_IR.values()):
        yield f"ir_version {model.ir_version} does not exist"


def room(converted: ModelProto, target: int) -> int:
    """The ir_version of the target's release, or what the content asks for beyond it; never below 4."""
    return max(RELEASE_IR.get(target, 4), least_ir(converted), 4)


def too_new(original: ModelProto, converted: ModelProto, target: int) -> str:
    """Old runtimes refuse a lowered model whose ir_version is newer than its opset's release and nothing asks for."""
    source = next(i.version for i in original.opset_import if _domain(i.domain) == "")
    if target < source and converted.ir_version > room(converted, target):
        return f"ir_version {converted.ir_version} at opset {target}, where {room(converted, target)} does"
    return ""


def _typed(model: ModelProto) -> list[str]:
    flat = inliner.inline_local_functions(model) if model.functions else model
    inferred = shape_inference.infer_shapes(flat, check_type=True, strict_mode=True, data_prop=True)
    imports = {_domain(i.domain): i.version for i in inferred.opset_import}
    return list(_graph(inferred.graph, imports, {}))


def _value(info: ValueInfoProto) -> Value:
    tensor = info.type.tensor_type
    name = TensorProto.DataType.Name(tensor.elem_type).lower()
    dims = tuple(d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim) if tensor.HasField("shape") else None
    return Value(name, dims)


def _graph(graph: GraphProto, imports: Mapping[str, int], outer: Mapping[str, Value]) -> Iterator[str]:
    values = {**outer, **{v.name: _value(v) for v in (*graph.value_info, *graph.input, *graph.output) if v.type.HasField("tensor_type")}}
    values |= {t.name: Value(TensorProto.DataType.Name(t.data_type).lower(), tuple(t.dims)) for t in graph.initializer}
    for node in graph.node:
        for problem in (*_attributes(node, imports), *_types(node, imports, values), *_shapes(node, imports, values)):
            yield f"{node.op_type} {node.name!r}: {problem}"
        for a in node.attribute:
            if a.HasField("g"):
                yield from _graph(a.g, imports, values)


def _schema(node: NodeProto, imports: Mapping[str, int]) -> OpSchema | None:
    try:
        return onnx.defs.get_schema(node.op_type, imports[_domain(node.domain)], _domain(node.domain))
    except Exception:
        return None


def _attributes(node: NodeProto, imports: Mapping[str, int], inside: bool = False) -> Iterator[str]:
    domain = _domain(node.domain)
    if domain not in imports:
        yield f"domain {domain!r} is not imported"
        return
    schema = _schema(node, imports)
    if schema is None:
        if domain == "":
            yield f"opset {imports['']} has no {node.op_type}"
        elif domain == "com.microsoft" and (extra := {a.name for a in node.attribute} - {"axis"}):
            yield f"com.microsoft knows no {sorted(extra)}"
        return
    given = {a.name for a in node.attribute}
    for name in sorted(given - set(schema.attributes)):
        yield f"no attribute {name} at opset {imports[domain]}"
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in given:
            yield f"lacks attribute {name}"
    for a in node.attribute:
        if a.name in schema.attributes and a.type != schema.attributes[a.name].type.value:
            yield f"attribute {a.name} has the wrong type"
    if schema.deprecated:
        yield f"deprecated at opset {imports[domain]}"
    if inside:
        for a in node.attribute:
            if a.HasField("g"):
                for n in a.g.node:
                    yield from _attributes(n, imports, inside)


def _types(node: NodeProto, imports: Mapping[str, int], values: Mapping[str, Value]) -> Iterator[str]:
    schema = _schema(node, imports)
    if schema is None:
        yield from _microsoft_types(node, values)
        return
    if not schema.min_input <= len(node.input) <= schema.max_input or not schema.min_output <= len(node.output) <= schema.max_output:
        yield f"{len(node.input)} inputs, {len(node.output)} outputs"
        return
    allowed = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    bound: dict[str, str] = {}
    for names, formals in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for i, name in enumerate(names):
            formal = formals[min(i, len(formals) - 1)]
            if name not in values:
                continue
            text, many = (
                f"tensor({values[name].dtype})",
                formal.option == OpSchema.FormalParameterOption.Variadic and not formal.is_homogeneous,
            )
            if text not in allowed.get(formal.type_str, {formal.type_str}):
                yield f"{text} as {formal.name} at opset {imports[_domain(node.domain)]}"
            elif not many and bound.setdefault(formal.type_str, text) != text:
                yield f"{formal.name} is {text}, another {formal.type_str} {bound[formal.type_str]}"


def _microsoft_types(node: NodeProto, values: Mapping[str, Value]) -> Iterator[str]:
    if node.op_type not in ("QuantizeLinear", "DequantizeLinear") or node.domain != "com.microsoft":
        return
    real, stored = (node.input[0], node.output[0]) if node.op_type == "QuantizeLinear" else (node.output[0], node.input[0])
    codes = MICROSOFT_CODES | ({"int32"} if node.op_type == "DequantizeLinear" else set())
    for name, kinds in ((real, {"float", "float16"}), (node.input[1], {"float", "float16"}), (stored, codes)):
        if name in values and values[name].dtype not in kinds:
            yield f"com.microsoft takes no {values[name].dtype} for {name}"


def _shapes(node: NodeProto, imports: Mapping[str, int], values: Mapping[str, Value]) -> Iterator[str]:
    """The rules of granularity that no checker looks at."""
    if node.op_type not in ("QuantizeLinear", "DequantizeLinear"):
        return
    x, scale = (values.get(n, Value("", None)).dims for n in node.input[:2])
    zero = values[node.input[2]].dims if len(node.input) > 2 and node.input[2] in values else scale
    attributes = {a.name: a.i for a in node.attribute}
    main = _domain(node.domain) == ""
    if scale is None:
        return
    if main and imports[""] < 13 and scale not in ((), (1,)):
        yield f"scale of shape {scale} where only a scalar is legal"
    if zero is not None and zero != scale and {scale, zero} != {(), (1,)}:
        yield f"zero point of shape {zero} beside scale {scale}"
    yield from _granularity(x, scale, attributes.get("axis", 1), attributes.get("block_size", 0))
    if (
        main
        and node.op_type == "DequantizeLinear"
        and node.input[1] in values
        and values[node.input[1]].dtype == "float8e8m0"
        and not attributes.get("output_dtype")
    ):
        yield "a float8e8m0 scale needs output_dtype"


def _granularity(x: Dims, scale: tuple[int | None, ...], axis: int, block: int) -> Iterator[str]:
    if block < 0:
        yield f"block_size {block}"
    if not block and len(scale) > 1:
        yield f"scale of rank {len(scale)} without block_size"
    if block and len(scale) == 0:
        yield "block_size with a scalar scale"
    if x is None or (not block and scale in ((), (1,))):
        return
    if not -len(x) <= axis < len(x):
        yield f"axis {axis} of rank {len(x)}"
        return
    k = axis % len(x)
    blocked = [n if i != k else None if n is None else ceil(n / block) for i, n in enumerate(x)] if block else []
    expected = blocked or [x[k]]
    if len(expected) != len(scale) or any(a is not None and b is not None and a != b for a, b in zip(expected, scale, strict=False)):
        yield f"scale of shape {scale} instead of {tuple(expected)}"
