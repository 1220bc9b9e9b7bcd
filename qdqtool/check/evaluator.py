"""The judge where ONNX Runtime has no kernel: ``onnx.reference`` with our own quantization operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import onnx.inliner
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto
from onnx.reference import ReferenceEvaluator

from qdqtool.check.operators import OPERATORS
from qdqtool.check.sessions import CannotRun, Value
from qdqtool.kernels.sources import Array

_LONGEST = 300


class Evaluator:
    """A model ready to run; its constants must be inside it.

    Raises
    ------
    CannotRun
        An operator has no implementation.
    """

    def __init__(self, model: ModelProto) -> None:
        try:
            self._reference = ReferenceEvaluator(_normalized(model), new_ops=list(OPERATORS))
        except Exception as error:
            raise CannotRun(_reason(error), missing=True) from None

    def run(self, inputs: Mapping[str, Array], wanted: Sequence[str]) -> dict[str, Value]:
        """Outputs by name.

        Raises
        ------
        CannotRun
            An operator fails.
        """
        try:
            with np.errstate(all="ignore"):
                results = self._reference.run(list(wanted), dict(inputs))
        except Exception as error:
            raise CannotRun(_reason(error)) from None
        return dict(zip(wanted, results, strict=True))


def _normalized(model: ModelProto) -> ModelProto:
    """A copy without functions (``onnx.reference`` gives them its own operators) and with one spelling of the main domain."""
    copy = ModelProto()
    copy.CopyFrom(model)
    if copy.functions:
        copy = onnx.inliner.inline_local_functions(copy)
    # It splits a subgraph's shape annotations from their values; nothing here needs them.
    del copy.graph.value_info[:]
    imports = {("" if i.domain == "ai.onnx" else i.domain): i.version for i in copy.opset_import}
    del copy.opset_import[:]
    for domain, version in imports.items():
        copy.opset_import.add(domain=domain, version=version)
    for node in _nodes(copy.graph):
        if node.domain == "ai.onnx":
            node.domain = ""
    return copy


def _nodes(graph: GraphProto) -> Iterable[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _nodes(attribute.g)


def _reason(error: Exception) -> str:
    cause = error.__cause__ or error
    text = " ".join(str(cause).split())
    return f"{type(cause).__name__}: {text[:_LONGEST]}" if text else type(cause).__name__
