"""What a conversion lost: names, docs, metadata, value_info, annotations, functions, unknown fields of all that survives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

from tests.judging.feeds import nodes_of

MODEL_FIELDS = (
    "producer_name",
    "producer_version",
    "domain",
    "model_version",
    "doc_string",
    "metadata_props",
    "training_info",
    "configuration",
)
GRAPH_FIELDS = ("name", "doc_string", "metadata_props", "quantization_annotation", "sparse_initializer")
FUNCTION_FIELDS = ("doc_string", "metadata_props", "attribute", "attribute_proto", "input", "output", "overload")

Gone = frozenset[tuple[str, str]]


def lost(original: ModelProto, converted: ModelProto, notes: Sequence[str] = ()) -> list[str]:
    """What is gone; a function that is called may go when a note says that it was inlined."""
    kept = {(f.domain, f.name, f.overload): f for f in converted.functions}
    inlined = [f for f in original.functions if (f.domain, f.name, f.overload) not in kept]
    gone = frozenset((f.domain, f.name) for f in inlined)
    found = [*_fields("model", original, converted, MODEL_FIELDS), *_graph("main", original.graph, converted.graph, gone)]
    found += [
        *_ports(original, converted),
        *(f"function {f.name}" for f in inlined if not _called(f, original) or not any(f.name in n for n in notes)),
    ]
    for f in original.functions:
        if (f.domain, f.name, f.overload) in kept:
            found += _function(f, kept[f.domain, f.name, f.overload], gone)
    imports = {i.domain for i in converted.opset_import}
    used = {i.domain for i in original.opset_import} - {f.domain for f in inlined} - {"com.microsoft"}
    return [*found, *(f"import of {d!r}" for d in sorted(used - imports))]


def _called(function: FunctionProto, model: ModelProto) -> bool:
    return any((n.domain, n.op_type) == (function.domain, function.name) for n in nodes_of(model))


def _fields(where: str, before: Any, after: Any, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if getattr(before, name) != getattr(after, name):
            yield f"{where}: {name}"
    if _unknown(before) - _unknown(after):
        yield f"{where}: unknown fields"


def _unknown(message: Any) -> set[tuple[int, Any]]:
    return {(f.field_number, f.data) for f in UnknownFieldSet(message)}


def _ports(original: ModelProto, converted: ModelProto) -> Iterator[str]:
    """Inputs and outputs are the same messages; at IR 3 constants may leave the inputs."""
    constants = {t.name for t in original.graph.initializer} if original.ir_version < 4 else set()
    for kind in ("input", "output"):
        before = [p for p in getattr(original.graph, kind) if kind == "output" or p.name not in constants]
        after = [p for p in getattr(converted.graph, kind) if kind == "output" or p.name not in constants]
        if [p.SerializeToString() for p in before] != [p.SerializeToString() for p in after]:
            yield f"main: {kind}s changed"


def _graph(where: str, before: GraphProto, after: GraphProto, gone: Gone) -> Iterator[str]:
    yield from _fields(where, before, after, GRAPH_FIELDS)
    yield from _nodes(where, before.node, after.node, gone)
    alive = {o for n in after.node for o in n.output} | {t.name for t in after.initializer} | {p.name for p in after.input}
    infos = {v.name: v for v in after.value_info}
    for v in before.value_info:
        if v.name in alive and (v.name not in infos or _shell(v) != _shell(infos[v.name])):
            yield f"{where}: value_info of {v.name}"
    tensors = {t.name: t for t in after.initializer}
    for t in before.initializer:
        if t.name in tensors:
            yield from _fields(f"{where}/{t.name}", t, tensors[t.name], ("doc_string", "metadata_props"))


def _shell(info: ValueInfoProto) -> bytes:
    """A value_info but for its element type, which may have become another carrier."""
    copy = ValueInfoProto()
    copy.CopyFrom(info)
    copy.type.tensor_type.elem_type = 0
    return copy.SerializeToString()


def _nodes(where: str, before: Sequence[NodeProto], after: Sequence[NodeProto], gone: Gone) -> Iterator[str]:
    """Whoever writes an old value carries the name, doc and metadata of who wrote it before, unless that was an inlined call."""
    writers = {o: n for n in after for o in n.output}
    for node in before:
        survivor = next((writers[o] for o in node.output if o in writers), None)
        if survivor is None or (node.domain, node.op_type) in gone:
            continue
        place = f"{where}/{node.name or node.output[0]}"
        yield from _fields(place, node, survivor, ("name", "doc_string", "metadata_props"))
        bodies = {a.name: a.g for a in survivor.attribute if a.HasField("g")}
        for a in node.attribute:
            if a.HasField("g") and a.name in bodies:
                yield from _graph(f"{place}/{a.name}", a.g, bodies[a.name], gone)
            elif a.HasField("g"):
                yield f"{place}: {a.name}"


def _function(before: FunctionProto, after: FunctionProto, gone: Gone) -> Iterator[str]:
    where = f"function {before.name}"
    yield from _fields(where, before, after, FUNCTION_FIELDS)
    yield from _nodes(where, before.node, after.node, gone)
