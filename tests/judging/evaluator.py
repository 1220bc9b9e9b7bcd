"""A second way to run a model: Q, DQ and Cast from the scalar oracle, control flow here, the rest node by node from onnx.reference.

onnx.reference alone is no oracle: no DequantizeLinear below 19, wrapped saturation, Loop outputs concatenated, none of com.microsoft.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType
from tests.formats import decode
from tests.oracle import oracle_cast, oracle_dequantize, oracle_quantize

Array = np.ndarray[Any, np.dtype[Any]]
Values = Mapping[str, Array | None]
FLOATING = ("Add", "Sub", "Mul", "Div", "MatMul", "Gemm", "Conv", "Relu")


@dataclass(frozen=True)
class Frame:
    """What holds where a node stands: imports, functions, the call's attributes, the values visible."""

    imports: Mapping[str, int]
    functions: Mapping[tuple[str, str, str], FunctionProto]
    attributes: Mapping[str, AttributeProto]
    values: dict[str, Array | None]


@dataclass(frozen=True)
class Call:
    """One node about to run."""

    node: NodeProto
    frame: Frame
    inputs: Sequence[Array | None]
    attributes: Mapping[str, Any]

    def input(self, i: int) -> Array | None:
        return self.inputs[i] if i < len(self.inputs) else None

    def need(self, i: int) -> Array:
        value = self.input(i)
        assert value is not None, f"{self.node.op_type} lacks input {i}"
        return value

    @property
    def opset(self) -> int:
        return self.frame.imports.get(self.node.domain, 1)


def evaluate(model: ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """Outputs of the model, in order."""
    frame = Frame(
        {_domain(i.domain): i.version for i in model.opset_import},
        {(_domain(f.domain), f.name, f.overload): f for f in model.functions},
        {},
        {},
    )
    with np.errstate(all="ignore"):
        outputs = _graph(model.graph, frame, feeds)
    return [o for o in outputs if o is not None]


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _graph(graph: GraphProto, frame: Frame, feeds: Mapping[str, Array | None]) -> list[Array | None]:
    sparse = {t.values.name: _dense(t) for t in graph.sparse_initializer}
    values = {**frame.values, **{t.name: array_of(t) for t in graph.initializer}, **sparse, **feeds}
    return _nodes(graph.node, Frame(frame.imports, frame.functions, frame.attributes, values), [o.name for o in graph.output])


def _nodes(nodes: Sequence[NodeProto], frame: Frame, outputs: Sequence[str]) -> list[Array | None]:
    for node in nodes:
        for name, value in zip(node.output, _node(node, frame), strict=False):
            frame.values[name] = value
    return [frame.values[name] for name in outputs]


def _node(node: NodeProto, frame: Frame) -> Sequence[Array | None]:
    bound = [_bind(a, frame) for a in node.attribute]
    attributes = {a.name: helper.get_attribute_value(a) for a in bound if a is not None}
    call = Call(node, frame, [frame.values[n] if n else None for n in node.input], attributes)
    domain = _domain(node.domain)
    function = frame.functions.get((domain, node.op_type, node.overload))
    if function is not None:
        return _function(function, call)
    own = OWN.get((domain, node.op_type))
    return (
        [own(call)] if own else MANY[node.op_type](call) if node.op_type in MANY else _reference(call, [a for a in bound if a is not None])
    )


def _bind(attribute: AttributeProto, frame: Frame) -> AttributeProto | None:
    if not attribute.ref_attr_name:
        return attribute
    given = frame.attributes.get(attribute.ref_attr_name)
    if given is None:
        return None
    bound = AttributeProto()
    bound.CopyFrom(given)
    bound.name = attribute.name
    return bound


def _function(function: FunctionProto, call: Call) -> Sequence[Array | None]:
    given = {a.name: a for a in function.attribute_proto} | {
        a.name: b for a in call.node.attribute if (b := _bind(a, call.frame)) is not None
    }
    values: dict[str, Array | None] = {name: call.input(i) for i, name in enumerate(function.input)}
    imports = {_domain(i.domain): i.version for i in function.opset_import}
    return _nodes(function.node, Frame(imports, call.frame.functions, given, values), list(function.output))


def array_of(tensor: TensorProto) -> Array:
    """A tensor's values as an array of the type's own dtype."""
    array = numpy_helper.to_array(tensor)
    row = D.of_code(tensor.data_type)
    assert row is not None
    return array if row.kind == "string" else array.astype(row.numpy).reshape(tuple(tensor.dims))


def from_bits(bits: Array, to: ElementType) -> Array:
    """An array from bit patterns; integers through their values, whose in-memory patterns may be sign-extended."""
    if to.integer:
        return np.array([decode(int(b), to.name) for b in bits.reshape(-1)], np.int64).astype(to.numpy).reshape(bits.shape)
    return bits.astype(f"u{to.numpy.itemsize}").view(to.numpy)


def _grain(call: Call, x: Array, scale: Array) -> dict[str, int | None]:
    if scale.ndim == 0 or (scale.shape == (1,) and not call.attributes.get("block_size")):
        return {"axis": None, "block": None}
    axis = int(call.attributes.get("axis", 1))
    assert -x.ndim <= axis < x.ndim, "axis out of range"
    k, block = axis % x.ndim, int(call.attributes.get("block_size", 0)) or None
    expected = tuple(-(-n // block) if i == k else n for i, n in enumerate(x.shape)) if block else (x.shape[k],)
    assert scale.shape == expected, f"scale of shape {scale.shape} instead of {expected}"
    return {"axis": k, "block": block}


def _zero(call: Call) -> Array | None:
    zero = call.input(2)
    return None if zero is None or not np.any(zero.astype(np.float32)) else zero


def _quantize(call: Call) -> Array:
    x, scale, zero = call.need(0), call.need(1), call.input(2)
    storage = D.of_numpy(zero.dtype) if zero is not None else D.of_code(int(call.attributes.get("output_dtype", 0))) or D.UINT8
    compute = D.FLOAT
    if not call.node.domain and call.opset >= 23:
        compute = D.of_code(int(call.attributes.get("precision", 0))) or D.of_numpy(scale.dtype)
    zero = None if storage.kind == "float" else zero
    saturate = bool(call.attributes.get("saturate", 1))
    return from_bits(
        oracle_quantize(x, scale, zero, storage=storage, compute=compute, saturate=saturate, **_grain(call, x, scale)), storage
    )


def _dequantize(call: Call) -> Array:
    q, scale = call.need(0), call.need(1)
    out = D.of_code(int(call.attributes.get("output_dtype", 0))) or D.of_numpy(scale.dtype)
    return from_bits(oracle_dequantize(q, scale, _zero(call), expressed=out, **_grain(call, q, scale)), out)


def _cast(call: Call) -> Array:
    to = D.of_code(int(call.attributes["to"]))
    assert to is not None
    mode = call.attributes.get("round_mode", b"up").decode()
    return cast(call.need(0), to, saturate=bool(call.attributes.get("saturate", 1)), round_mode=mode)


def cast(x: Array, to: ElementType, *, saturate: bool = True, round_mode: str = "up") -> Array:
    """Cast by the oracle, which knows no 64-bit float source beyond its own table."""
    if x.dtype == to.numpy:
        return x
    return from_bits(oracle_cast(x, to, saturate=saturate, round_mode=round_mode), to) if to is not D.BOOL else x.astype(np.float32) != 0


def _constant(call: Call) -> Array:
    (attribute,) = call.node.attribute
    value = call.attributes[attribute.name]
    if attribute.name == "value":
        return array_of(value)
    if attribute.name == "sparse_value":
        return _dense(value)
    return np.array(value, np.float32 if "float" in attribute.name else np.int64)


def _dense(value: SparseTensorProto) -> Array:
    dense = np.zeros(int(np.prod(value.dims)), array_of(value.values).dtype)
    dense[array_of(value.indices)] = array_of(value.values)
    return dense.reshape(tuple(value.dims))


def _clip(call: Call) -> Array:
    x = call.need(0)
    low = call.attributes.get("min", call.input(1))
    high = call.attributes.get("max", call.input(2))
    wide = x.astype(np.float64) if D.of_numpy(x.dtype).kind == "float" else x.astype(np.int64)
    if low is not None:
        wide = np.where(wide < np.asarray(low).astype(wide.dtype), np.asarray(low).astype(wide.dtype), wide)
    if high is not None:
        wide = np.where(wide > np.asarray(high).astype(wide.dtype), np.asarray(high).astype(wide.dtype), wide)
    return wide.astype(x.dtype)


def _identity(call: Call) -> Array:
    return call.need(0)


def _reshape(call: Call) -> Array:
    x, wanted = call.need(0), [int(v) for v in call.need(1)]
    copied = wanted if call.attributes.get("allowzero") else [x.shape[i] if n == 0 else n for i, n in enumerate(wanted)]
    return np.array(x, order="C").reshape(copied)


def _transpose(call: Call) -> Array:
    return np.array(call.need(0).transpose(call.attributes.get("perm")), order="C")


def _if(call: Call) -> Sequence[Array | None]:
    branch = call.attributes["then_branch" if bool(call.need(0).reshape(())) else "else_branch"]
    return _graph(branch, call.frame, {})


def _loop(call: Call) -> Sequence[Array | None]:
    body: GraphProto = call.attributes["body"]
    trips, keep = call.input(0), call.input(1)
    state = list(call.inputs[2:])
    stacked: list[list[Array]] = [[] for _ in body.output[1 + len(state) :]]
    alive, i = keep is None or bool(keep.reshape(())), 0
    while alive and (trips is None or i < int(trips.reshape(()))):
        feeds = dict(zip([p.name for p in body.input], [np.array(i, np.int64), np.array(True), *state], strict=True))
        cond, *results = _graph(body, call.frame, feeds)
        state, i, alive = results[: len(state)], i + 1, cond is None or bool(cond.reshape(()))
        for column, value in zip(stacked, results[len(state) :], strict=True):
            column.append(value)
    return [*state, *(np.stack(c) for c in stacked)]


def _scan(call: Call) -> Sequence[Array | None]:
    body: GraphProto = call.attributes["body"]
    scanned = int(call.attributes["num_scan_inputs"])
    count = len(call.inputs) - scanned
    state, rows = list(call.inputs[:count]), [r for r in call.inputs[count:] if r is not None]
    stacked: list[list[Array]] = [[] for _ in body.output[count:]]
    for i in range(len(rows[0])):
        results = _graph(body, call.frame, dict(zip([p.name for p in body.input], [*state, *(r[i] for r in rows)], strict=True)))
        state = results[:count]
        for column, value in zip(stacked, results[count:], strict=True):
            column.append(value)
    return [*state, *(np.stack(c) for c in stacked)]


def _dynamic(call: Call) -> Sequence[Array | None]:
    """As ONNX Runtime: the scale of an all-zero tensor is 1."""
    x = call.need(0)
    low, high = (np.float32(f(np.append(x.reshape(-1), np.float32(0)))) for f in (np.min, np.max))
    scale = np.float32(1) if low == high else np.float32(np.float32(high - low) / np.float32(255))
    zero = np.array(np.rint(np.clip(np.float32(0) - np.float32(low / scale), 0, 255)), np.uint8)
    y = oracle_quantize(x, np.array(scale), zero, storage=D.UINT8, compute=D.FLOAT, axis=None, block=None)
    return [from_bits(y, D.UINT8), np.array(scale), zero]


def _reference(call: Call, attributes: Sequence[AttributeProto]) -> Sequence[Array | None]:
    """Any other operator; sums and products of small floats are computed in float32 and rounded once, as the spec has it."""
    dtype = next((a.dtype for a in call.inputs if a is not None), np.dtype(np.float32))
    narrow = call.node.op_type in FLOATING and dtype in (np.float16, D.BFLOAT16.numpy)
    given = [a.astype(np.float32) if narrow and a is not None else a for a in call.inputs]
    names = [f"i{i}" if a is not None else "" for i, a in enumerate(given)]
    node = helper.make_node(call.node.op_type, names, [f"o{i}" for i, _ in enumerate(call.node.output)], domain=call.node.domain)
    node.attribute.extend(attributes)
    outputs = ReferenceEvaluator(node, opsets=dict(call.frame.imports)).run(None, {n: a for n, a in zip(names, given, strict=True) if n})
    return [np.asarray(o).astype(dtype) if narrow else np.asarray(o) for o in outputs]


OWN: dict[tuple[str, str], Callable[[Call], Array]] = {
    ("", "QuantizeLinear"): _quantize,
    ("com.microsoft", "QuantizeLinear"): _quantize,
    ("", "DequantizeLinear"): _dequantize,
    ("com.microsoft", "DequantizeLinear"): _dequantize,
    ("", "Cast"): _cast,
    ("", "Constant"): _constant,
    ("", "Clip"): _clip,
    ("", "Identity"): _identity,
    ("", "Reshape"): _reshape,
    ("", "Transpose"): _transpose,
}
MANY: dict[str, Callable[[Call], Sequence[Array | None]]] = {"If": _if, "Loop": _loop, "Scan": _scan, "DynamicQuantizeLinear": _dynamic}
