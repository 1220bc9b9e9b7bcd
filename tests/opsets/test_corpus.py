"""Real models: no node of any operator other than Q/DQ makes `judge` stumble, and what stands in the way is what was measured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import onnx
import pytest
from onnx import GraphProto, NodeProto, TypeProto, numpy_helper, shape_inference

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.opsets.moves import judge, unknown_at_source

CORPUS = Path(__file__).parents[2] / "../shared/corpus/models"
TARGETS = (13, 17, 19, 21, 23, 25, 27)
STEPS = ("QuantizeLinear", "DequantizeLinear")

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real models is not beside the project (../shared/corpus)")


def graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from graphs(body)


class Model:
    """Nodes of a model and what inference says about its values."""

    def __init__(self, path: Path) -> None:
        proto = onnx.load(path, load_external_data=False)
        try:
            inferred = shape_inference.infer_shapes(proto)
        except Exception:  # odd models have types that inference cannot unite; they must be judged all the same
            inferred = proto
        self.source = next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), None)
        self.nodes: list[NodeProto] = [n for f in proto.functions for n in f.node]
        self.types: dict[str, ElementType | None] = {}
        self.shapes: dict[str, tuple[int | str | None, ...]] = {}
        self.integers: dict[str, list[int]] = {}
        for graph in graphs(inferred.graph):
            self.nodes += graph.node
            for value in (*graph.input, *graph.output, *graph.value_info):
                self._value(value.name, value.type)
            for tensor in graph.initializer:
                self._constant(tensor.name, tensor)
            for node in graph.node:
                for attribute in node.attribute:
                    if node.op_type == "Constant" and attribute.name == "value":
                        self._constant(node.output[0], attribute.t)

    def _value(self, name: str, kind: TypeProto) -> None:
        if kind.HasField("tensor_type"):
            self.types[name] = dtypes.of_code(kind.tensor_type.elem_type)
            if kind.tensor_type.HasField("shape"):
                self.shapes[name] = tuple(
                    d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in kind.tensor_type.shape.dim
                )

    def _constant(self, name: str, tensor: onnx.TensorProto) -> None:
        self.types[name], self.shapes[name] = dtypes.of_code(tensor.data_type), tuple(tensor.dims)
        if tensor.data_type == onnx.TensorProto.INT64 and len(tensor.dims) == 1 and not tensor.external_data:
            self.integers[name] = numpy_helper.to_array(tensor).tolist()

    def blockers(self, target: int) -> Counter[str]:
        """Number of nodes that cannot move, by operator and reason (without names and numbers)."""
        found: Counter[str] = Counter()
        assert self.source is not None
        for node in self.nodes:
            if node.op_type in STEPS:
                continue
            verdict = judge(node, self.source, target, self.types.get, shape_of=self.shapes.get, value_of=self.integers.get)
            if unknown_at_source(node, self.source):
                assert verdict.reasons == ()
            for reason in verdict.reasons[:1]:
                found[f"{node.op_type}: {re.sub(r' opset [0-9]+.*', '', reason)}"] += 1
        return found


@cache
def models() -> dict[str, Model]:
    found = {str(path.relative_to(CORPUS)): Model(path) for path in sorted(CORPUS.rglob("*.onnx"))}
    return {name: model for name, model in found.items() if model.source is not None}


def test_every_node_of_every_model_is_judged() -> None:
    assert len(models()) >= 140
    assert sum(len(m.nodes) for m in models().values()) > 10_000
    for model in models().values():
        for target in TARGETS:
            model.blockers(target)


# Pairs of model and target that each reason blocks; the rest are fewer than six.
MEASURED = {
    "Unsqueeze: Unsqueeze takes axes as an input at": 55,
    "ReduceMean: ReduceMean takes axes as an attribute at": 42,
    "Squeeze: Squeeze takes axes as an input at": 30,
    "LayerNormalization: opset 13 has no operator LayerNormalization (from": 11,
    "Softmax: Softmax changed its meaning at": 10,
    "Split: Split takes split as an input at": 10,
    "ReduceMean: ReduceMean takes axes as an input at": 9,
}


def test_blockers_are_those_that_were_measured() -> None:
    pairs: Counter[str] = Counter()
    for model in models().values():
        for target in (13, 17, 21, 24, 27):
            pairs.update(set(model.blockers(target)))
    assert {reason: count for reason, count in pairs.items() if count > 5} == MEASURED
    free = [sum(not m.blockers(target) for m in models().values()) for target in (13, 17, 21, 24, 27)]
    assert free == [103, 114, 136, 137, 137]
