"""Inputs for a model: rich in ties and extremes, of the types and shapes its graph declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType
from tests.graphs.draft import digest
from tests.judging.evaluator import array_of

Array = np.ndarray[Any, np.dtype[Any]]
ROUNDS = 3
MODERATE = {"MatMul", "Gemm", "Conv", "DynamicQuantizeLinear"}


def nodes_of(model: ModelProto) -> Iterator[NodeProto]:
    """Every node of the model, subgraphs and functions included."""
    for nodes in (model.graph.node, *(f.node for f in model.functions)):
        yield from _walk(nodes)


def _walk(nodes: Any) -> Iterator[NodeProto]:
    for node in nodes:
        yield node
        for a in node.attribute:
            for g in (*([a.g] if a.HasField("g") else []), *a.graphs):
                yield from _walk(g.node)


def graphs_of(model: ModelProto) -> Iterator[GraphProto]:
    """The main graph and every subgraph."""
    yield model.graph
    for node in nodes_of(model):
        for a in node.attribute:
            yield from ([a.g] if a.HasField("g") else [])
            yield from a.graphs


def required(model: ModelProto) -> list[ValueInfoProto]:
    """Inputs without a default (at IR 3 an initializer is never an input)."""
    held = {t.name for t in model.graph.initializer} | {t.values.name for t in model.graph.sparse_initializer}
    return [i for i in model.graph.input if i.name not in held]


def feeds(model: ModelProto, shapes: Mapping[str, tuple[int, ...]], seed: str) -> list[dict[str, Array]]:
    """Several sets of inputs; the last also overrides every default."""
    rng = np.random.default_rng(digest(seed))
    scales = _scales(model)
    hard = not any(n.op_type in MODERATE for n in nodes_of(model))
    roles = {
        n.input[i]: role
        for n in nodes_of(model)
        if n.op_type in ("QuantizeLinear", "DequantizeLinear")
        for i, role in ((1, "scale"), (2, "zero"))
        if i < len(n.input)
    }
    optional = [] if model.ir_version < 4 else [i for i in model.graph.input if i not in required(model)]
    rounds = ROUNDS if model.graph.input else 1
    result = []
    for k in range(rounds):
        ports = [*required(model), *(optional if k == rounds - 1 else [])]
        result.append({p.name: _draw(rng, p, shapes, roles.get(p.name, ""), scales, hard, k) for p in ports})
    return result


def _scales(model: ModelProto) -> Array:
    used = {n.input[1] for n in nodes_of(model) if n.op_type == "QuantizeLinear"}
    found = [array_of(t).astype(np.float32).reshape(-1) for g in graphs_of(model) for t in g.initializer if t.name in used]
    return np.concatenate([*found, np.array([0.25, 0.1], np.float32)]) if not found else np.concatenate(found)


def _draw(rng: Any, port: ValueInfoProto, shapes: Mapping[str, tuple[int, ...]], role: str, scales: Array, hard: bool, k: int) -> Array:
    tensor = port.type.tensor_type
    kind = D.of_code(tensor.elem_type)
    assert kind is not None
    shape = shapes.get(port.name) or tuple(d.dim_value if d.HasField("dim_value") else 2 for d in tensor.shape.dim)
    if role == "scale":
        return np.asarray(2.0 ** rng.integers(-4, 2, shape) * (1.0 if kind is D.FLOAT8E8M0 else rng.choice([1.0, 1.3], shape))).astype(
            kind.numpy
        )
    if kind is D.BOOL:
        return np.full(shape, k % 2 == 0)
    if role == "zero" and kind.kind == "float":
        return np.zeros(shape, kind.numpy)
    return _codes(rng, kind, shape) if kind.integer or kind.small_float else _reals(rng, kind, shape, scales, hard)


def _codes(rng: Any, kind: ElementType, shape: tuple[int, ...]) -> Array:
    if kind.kind == "float":
        return rng.integers(0, 1 << kind.bits, shape, dtype=np.uint8).view(kind.numpy)
    low, high = max(int(kind.low), -70_000), min(int(kind.high), 70_000)
    return rng.integers(low, high, shape, endpoint=True).astype(kind.numpy)


def _reals(rng: Any, kind: ElementType, shape: tuple[int, ...], scales: Array, hard: bool) -> Array:
    """Multiples and halves of the scales at several magnitudes; where infinities make sense, extremes among them."""
    size = rng.choice([3, 9, 150, 300, 40_000], shape) if hard else np.full(shape, 100)
    steps = np.trunc(rng.uniform(-1, 1, shape) * size) + rng.choice([0.0, 0.5, 0.5, -0.5, 0.25, 0.4999], shape)
    x = steps.astype(np.float32) * rng.choice(scales, shape)
    if hard:
        extremes = np.array(
            [0.0, -0.0, np.inf, -np.inf, 1e30, -1e30, 3e38, -3e38, 1e-45, -1e-40, 65504.0, -65504.0, 480.0, 1e5], np.float32
        )
        x = np.where(rng.uniform(0, 1, shape) < 0.2, rng.choice(extremes, shape), x)
    with np.errstate(over="ignore"):
        return np.asarray(x).astype(kind.numpy)
