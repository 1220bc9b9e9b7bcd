"""Whole-model matters: metadata everywhere, old IR, unknown shapes, DynamicQuantizeLinear, small networks, opset already there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from onnx import ModelProto, TensorAnnotation, helper, numpy_helper

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType
from tests.graphs.case import Case
from tests.graphs.draft import RELEASE_IR, Draft
from tests.graphs.params import codes, scales

Row = tuple[str, int, Callable[[Draft], None], Mapping[str, tuple[int, ...]], int | None]
UNKNOWN = b"\xfa\x7f\x05later"  # field 2047, length-delimited: a field this version of ONNX does not know


def network(d: Draft, storage: ElementType) -> None:
    """Activation pair, weight, MatMul, Relu, pair."""
    scale, zero = d.constant("act_scale", np.float32(0.25)), d.constant("act_zero", np.ones((), np.uint8))
    size, attributes = ((2, 4), {"axis": 0, "block_size": 2}) if d.opset >= 21 else ((4,), {"axis": 1}) if d.opset >= 13 else ((), {})
    weight = d.constant("weight", codes(d, storage, (4, 4)))
    x = d.input("x", D.FLOAT, ("batch", 4))
    real = d.dequantize(d.quantize(x, scale, zero), scale, zero)
    w = d.dequantize(weight, d.constant("weight_scale", scales(d, D.FLOAT, size)), **attributes)
    y = d.node("Relu", [d.node("MatMul", [real, w])])
    d.output(d.dequantize(d.quantize(y, scale, zero), scale, zero), D.FLOAT, ("batch", 4))


def metadata(d: Draft, storage: ElementType) -> None:
    """A network with names, docs, metadata at every level, value_info, annotations and denotations."""
    network(d, storage)
    d.finish.append(decorate)


def decorate(model: ModelProto) -> None:
    """Write everything that a conversion could lose."""
    model.producer_name, model.producer_version, model.domain, model.model_version, model.doc_string = (
        "maker",
        "1.2",
        "org.example",
        7,
        "model doc",
    )
    helper.set_model_props(model, {"author": "someone", "licence": "none"})
    graph = model.graph
    graph.doc_string = "graph doc"
    modern = model.ir_version >= 10
    for item in (*graph.node, *graph.initializer, *graph.input, *graph.output):
        item.doc_string = f"doc of {item.name}"
        if modern:
            item.metadata_props.add(key="from", value=item.name)
    if modern:
        graph.metadata_props.add(key="level", value="graph")
    for port in (*graph.input, *graph.output):
        port.type.denotation = "TENSOR"
        port.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    for node in graph.node:
        for name in node.output:
            if name not in {o.name for o in graph.output} and node.op_type in ("MatMul", "Relu", "DequantizeLinear"):
                info = helper.make_tensor_value_info(
                    name, 1, None if node.op_type == "MatMul" else ["batch", 4] if "weight" not in node.input[0] else [4, 4]
                )
                info.doc_string = f"value {name}"
                graph.value_info.append(info)
    note = TensorAnnotation(tensor_name=next(n.output[0] for n in graph.node if n.op_type == "Relu"))
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="act_scale")
    graph.quantization_annotation.append(note)


def unknown_fields(d: Draft, storage: ElementType) -> None:
    """Fields from a later ONNX in the model, the graph and an untouched node."""
    network(d, storage)
    d.finish.append(add_unknown_fields)


def add_unknown_fields(model: ModelProto) -> None:
    """Append an unknown field to three messages."""
    relu = next(n for n in model.graph.node if n.op_type == "Relu")
    for message in (relu, model.graph, model):
        message.MergeFromString(UNKNOWN)


def old_ir(d: Draft, storage: ElementType) -> None:
    """IR 3: every initializer is a graph input as well, and a constant all the same."""
    network(d, storage)
    d.inputs += [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in d.initializers]


def unknown_dims(d: Draft, storage: ElementType) -> None:
    """Symbols and blanks for sizes; the pair is per axis, or in blocks along a known axis."""
    size, attributes = ((4,), {"axis": 1}) if d.opset >= 13 else ((), {})
    scale, zero = (
        d.constant("scale", scales(d, D.FLOAT, size)),
        d.constant("zero", np.full(size, 0 if storage.kind == "float" else 1).astype(storage.numpy)),
    )
    q = d.quantize(d.input("x", D.FLOAT, ("N", None, "W")), scale, zero, **attributes)
    d.output(d.dequantize(q, scale, zero, **attributes), D.FLOAT, ("N", None, "W"))


def unknown_rank(d: Draft, storage: ElementType) -> None:
    """The real values come from an If whose branches differ in rank; quantized per tensor and, from 13, along axis 1."""
    x = d.input("x", D.FLOAT, (2, 4, 3))
    then, other = d.child("then"), d.child("else")
    then.output(then.node("Relu", [x]), D.FLOAT, (2, 4, 3))
    other.output(other.node("Reshape", [x, other.integers("to", [6, 4])]), D.FLOAT, (6, 4))
    real = d.node("If", [d.input("cond", D.BOOL, ())], then_branch=then.graph("then"), else_branch=other.graph("else"))
    scale, zero = d.constant("scale", np.float32(0.25)), d.constant("zero", np.zeros((), storage.numpy))
    _flat(d, d.dequantize(d.quantize(real, scale, zero), scale, zero))
    if d.opset >= 13:
        scale, zero = d.constant("scales", scales(d, D.FLOAT, (4,))), d.constant("zeros", np.zeros(4, storage.numpy))
        _flat(d, d.dequantize(d.quantize(real, scale, zero, axis=1), scale, zero, axis=1))


def _flat(d: Draft, name: str) -> None:
    d.output(d.node("Reshape", [name, d.integers("flat", [-1])]), D.FLOAT, (24,))


def dynamic(d: Draft, shape: tuple[int, ...]) -> None:
    """DynamicQuantizeLinear: codes, scale and zero point given out, and used."""
    x = d.input("x", D.FLOAT, shape)
    d.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], ["y", "y_scale", "y_zero"], name="dynamic"))
    d.output("y", D.UINT8, shape)
    d.output("y_scale", D.FLOAT, ())
    d.output("y_zero", D.UINT8, ())
    d.output(d.dequantize("y", "y_scale", "y_zero"), D.FLOAT, shape)


def unnamed(d: Draft, storage: ElementType) -> None:
    """Nodes without names, and values with odd ones."""
    network(d, storage)
    d.finish.append(strip_names)


def strip_names(model: ModelProto) -> None:
    """Drop the nodes' names and give the weight a path-like one."""
    for node in model.graph.node:
        node.name = ""
        for i, name in enumerate(node.input):
            if name == "weight":
                node.input[i] = "layers.0/weight:0 (q)"
    for tensor in model.graph.initializer:
        if tensor.name == "weight":
            tensor.name = "layers.0/weight:0 (q)"


def sparse_initializer(d: Draft, storage: ElementType) -> None:
    """A network with a sparse initializer that nobody reads (the checker's inference refuses one that is read)."""
    network(d, storage)
    values = numpy_helper.from_array(np.array([1.5, -2.0], np.float32), "sparse_bias")
    indices = numpy_helper.from_array(np.array([1, 3], np.int64), "sparse_bias_indices")
    d.sparse.append(helper.make_sparse_tensor(values, indices, [4]))


def training(d: Draft, storage: ElementType) -> None:
    """A network with training_info, which stays or converts like any graph."""
    network(d, storage)
    d.finish.append(add_training)


def add_training(model: ModelProto) -> None:
    """An initialization graph for the activation's scale."""
    value = helper.make_node("Constant", [], ["fresh_scale"], value=numpy_helper.from_array(np.array(0.5, np.float32)))
    graph = helper.make_graph([value], "start", [], [helper.make_tensor_value_info("fresh_scale", 1, [])])
    model.training_info.add().initialization.CopyFrom(graph)
    model.training_info[0].initialization_binding.add(key="act_scale", value="fresh_scale")


def spelled_domain(d: Draft, storage: ElementType) -> None:
    """The main domain written out as ai.onnx in the import."""
    network(d, storage)
    d.finish.append(spell_domain)


def spell_domain(model: ModelProto) -> None:
    """Write ai.onnx for the empty name."""
    model.opset_import[0].domain = "ai.onnx"


def scalar_beside_one(d: Draft, storage: ElementType) -> None:
    """A scalar scale beside a zero point of shape [1], and the reverse."""
    shapes = (((), (1,)), ((1,), ()))
    for scale_shape, zero_shape in shapes:
        scale = d.constant("scale", np.full(scale_shape, 0.25, np.float32))
        zero = d.constant("zero", np.full(zero_shape, 0 if storage.kind == "float" else 1).astype(storage.numpy))
        d.output(d.dequantize(d.constant("weight", codes(d, storage, (3, 4))), scale, zero), D.FLOAT, (3, 4))


def taken_names(d: Draft, storage: ElementType) -> None:
    """Names that a careless rewrite would make up itself are taken."""
    network(d, storage)
    taken = d.constant("real_2_reshaped", np.float32(1))
    d.output(d.node("Relu", [taken], out="weight_int8"), D.FLOAT, ())


TYPES = (
    (D.INT8, 10),
    (D.INT8, 13),
    (D.UINT8, 17),
    (D.FLOAT8E4M3FN, 19),
    (D.INT4, 21),
    (D.UINT4, 23),
    (D.FLOAT4E2M1, 23),
    (D.INT16, 24),
    (D.UINT2, 25),
    (D.INT4, 27),
    (D.INT8, 28),
)

PLAIN = (network, metadata, unknown_fields, unnamed, taken_names, sparse_initializer, training, spelled_domain, scalar_beside_one)
NEEDS_IR: dict[Callable[..., None], int] = {sparse_initializer: 6, training: 7}


def rows() -> Iterator[Row]:
    for storage, opset in TYPES:
        for form in PLAIN:
            ir = max(RELEASE_IR[opset], NEEDS_IR.get(form, 3))
            yield f"{form.__name__}/{storage}", opset, partial(form, storage=storage), {}, ir
        yield f"unknown_dims/{storage}", opset, partial(unknown_dims, storage=storage), {"x": (2, 4, 3)}, None
        if opset >= 11:  # If-1 wants one shape of both branches
            yield f"unknown_rank/{storage}", opset, partial(unknown_rank, storage=storage), {}, None
    for opset in (10, 12):
        yield "old_ir/int8", opset, partial(old_ir, storage=D.INT8), {}, 3
    for opset in (11, 13, 19, 21, 23, 28):
        for shape in ((3, 4), (1,), (2, 3, 2)):
            yield f"dynamic/{'x'.join(map(str, shape))}", opset, partial(dynamic, shape=shape), {}, None


def cases() -> list[Case]:
    """Every row of this file."""
    return [
        Case(
            f"{label.replace('_', '-')}@{opset}",
            label.split("/")[0].replace("_", "-"),
            opset,
            (draw.func.__doc__ or "").strip(),
            draw,
            shapes=shapes,
            ir=ir,
        )
        for label, opset, draw, shapes, ir in rows()
    ]
