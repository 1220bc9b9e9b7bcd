"""One of the two models: its main graph in the order of computation, and its constants read on demand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from onnx import ModelProto, NodeProto, TensorProto

from qdqtool.check.signature import Signature, signature
from qdqtool.check.subject import Subject
from qdqtool.kernels.sources import Array
from qdqtool.model import external, tensors
from qdqtool.model.graph import imports_of, label
from qdqtool.model.structure import order, reads


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A model under comparison; `makers` tells by value which of `nodes` makes it."""

    name: str
    subject: Subject
    signature: Signature
    nodes: tuple[NodeProto, ...]
    makers: Mapping[str, int]
    initializers: Mapping[str, TensorProto]
    imports: Mapping[str, int]
    functions: Mapping[tuple[str, str], bytes]

    def proto(self) -> ModelProto:
        """The model without its external data, for a copy to change."""
        return self.subject.proto()

    def title(self, node: NodeProto) -> str:
        """A node in words."""
        return f"main / {label(node)}"

    def maker(self, value: str) -> NodeProto | None:
        """The node that makes a value."""
        return self.nodes[self.makers[value]] if value in self.makers else None

    def constant(self, value: str) -> Array | None:
        """A constant by the name of the value; None for what is computed."""
        if value in self.initializers:
            return self._read(self.initializers[value])
        node = self.maker(value)
        if node is not None and node.op_type == "Identity":
            return self.constant(node.input[0])
        if node is None or node.op_type != "Constant" or tensors.constant_header(node) is None:
            return None
        return self._read(tensors.constant_tensor(node, self.subject.folders[0]))

    def segment(self, value: str, cuts: Collection[str]) -> list[NodeProto]:
        """The nodes that compute a value from cut values, inputs and constants, in order."""
        found, todo = set[int](), [value]
        while todo:
            index = self.makers.get(todo.pop())
            if index is not None and index not in found and self.nodes[index].op_type != "Constant":
                found.add(index)
                todo += [name for name in reads(self.nodes[index]) if name not in cuts]
        return [self.nodes[index] for index in sorted(found)]

    def _read(self, tensor: TensorProto) -> Array:
        home = self.subject.home(external.location(tensor)) if external.is_external(tensor) else None
        return tensors.array(tensor, home)


def side(name: str, subject: Subject) -> Side:
    """Read it once."""
    proto = subject.proto()
    graph = proto.graph
    nodes = tuple(graph.node[index] for index in order(graph.node))
    makers = {output: index for index, node in enumerate(nodes) for output in node.output if output}
    functions = {(f.domain, f.name): f.SerializeToString(deterministic=True) for f in proto.functions}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    return Side(name, subject, signature(proto), nodes, makers, constants, imports_of(proto.opset_import), functions)
