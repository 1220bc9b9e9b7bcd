"""A broken model with its good twin, and the small language such models are written in.

Graphs are ONNX text, constants are keywords (ONNX text cannot hold those of types below a byte); a bad model is a good one with one
thing changed: ``changed(GOOD, attribute("q", axis=5))``. Nodes are named by their first output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx.parser
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from qdqtool.dtypes import ElementType
from qdqtool.findings import Severity
from qdqtool.model import tensors, versions

Edit = Callable[[ModelProto], object]


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """`bad` is `good` with one thing changed, and gets exactly one finding of `code` with `message`, and one for each of `more`.

    `also` are codes of errors that follow from the same cause; `files` lie beside both models, `bad_files` replace some of them beside
    the bad one (None: not there).
    """

    name: str
    good: ModelProto
    bad: ModelProto
    code: str
    message: str
    severity: Severity = "error"
    more: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    bad_files: Mapping[str, bytes | None] = field(default_factory=dict)


def model(text: str, opset: int = 21, *, ir: int | None = None, imports: Mapping[str, int] | None = None, **constants: Any) -> ModelProto:
    """``model("g (float[4] x) => (uint8[4] q) { q = QuantizeLinear(x, s) }", s=0.5)``; Python floats are float32 scalars.

    `ir` is by default what the first release with the opset wrote; `imports` are other domains.
    """
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    proto.graph.initializer.extend(tensors.make(name, array(value)) for name, value in constants.items())
    proto.opset_import.extend(helper.make_opsetid(name, version) for name, version in (imports or {}).items())
    proto.ir_version = ir or versions.of_release(opset)
    for made in _nodes(proto.graph):
        made.name = made.name or made.output[0]
    return proto


def array(value: Any) -> np.ndarray[Any, Any]:
    """An array as it is; Python numbers and lists of them as float32."""
    return value if isinstance(value, np.ndarray | np.generic) else np.asarray(value, np.float32)  # type: ignore[return-value]


def codes(dtype: ElementType, *shape: int) -> np.ndarray[Any, Any]:
    """Codes of any type that run through its range."""
    count = int(np.prod(shape))
    if not dtype.integer:
        return np.resize(np.array([-2, -1, 0, 1, 2]), count).astype(dtype.numpy).reshape(shape)
    low, high = max(dtype.low, -1000), min(dtype.high, 1000)
    return np.resize(np.linspace(low, high, min(count, 16)).round().astype(np.int64), count).astype(dtype.numpy).reshape(shape)


def scales(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """Different positive scales."""
    return np.asarray(0.01 * (1 + np.arange(int(np.prod(shape))) % 7)).astype(dtype).reshape(shape)


def zeros(dtype: ElementType, *shape: int) -> np.ndarray[Any, Any]:
    """Zero points that are 0."""
    return np.zeros(shape, dtype.numpy)


def changed(good: ModelProto, *edits: Edit) -> ModelProto:
    """A copy with the edits carried out in order."""
    copy = ModelProto()
    copy.CopyFrom(good)
    for edit in edits:
        edit(copy)
    return copy


def node(proto: ModelProto | GraphProto, name: str) -> NodeProto:
    """The node of that name in the main graph, its subgraphs or functions."""
    bodies = [proto.graph, *proto.functions] if isinstance(proto, ModelProto) else [proto]
    found = next((n for body in bodies for n in _nodes(body) if n.name == name), None)
    assert found is not None, f"no node {name}"
    return found


def _nodes(body: Any) -> list[NodeProto]:
    own = list(body.node)
    return own + [n for o in own for a in o.attribute if a.HasField("g") for n in _nodes(a.g)]


def attribute(name: str, **values: Any) -> Edit:
    """Attributes of a node set, or taken away with None."""

    def edit(proto: ModelProto) -> None:
        found = node(proto, name)
        kept = [a for a in found.attribute if a.name not in values]
        del found.attribute[:]
        found.attribute.extend(kept + [helper.make_attribute(k, v) for k, v in values.items() if v is not None])

    return edit


def constant(**values: Any) -> Edit:
    """Initializers replaced or added; None takes one away."""

    def edit(proto: ModelProto) -> None:
        for name, value in values.items():
            at = [i for i, t in enumerate(proto.graph.initializer) if t.name == name]
            if value is None:
                del proto.graph.initializer[at[0]]
            elif at:
                proto.graph.initializer[at[0]].CopyFrom(tensors.make(name, array(value)))
            else:
                proto.graph.initializer.append(tensors.make(name, array(value)))

    return edit


def tensor(proto: ModelProto, name: str) -> TensorProto:
    """The initializer of that name."""
    return next(t for t in proto.graph.initializer if t.name == name)


def operands(name: str, *names: str) -> Edit:
    """The inputs of a node."""

    def edit(proto: ModelProto) -> None:
        node(proto, name).input[:] = names

    return edit


def results(name: str, *names: str) -> Edit:
    """The outputs of a node."""

    def edit(proto: ModelProto) -> None:
        node(proto, name).output[:] = names

    return edit


def operator(name: str, op: str, domain: str = "") -> Edit:
    """Another operator in a node's place."""

    def edit(proto: ModelProto) -> None:
        found = node(proto, name)
        found.op_type, found.domain = op, domain

    return edit


def inserted(index: int, op: str, inputs: list[str], outputs: list[str], **more: Any) -> Edit:
    """A new node before the one at `index` of the main graph, named by its first output."""

    def edit(proto: ModelProto) -> None:
        proto.graph.node.insert(index, helper.make_node(op, inputs, outputs, name=outputs[0], **more))

    return edit


def removed(name: str) -> Edit:
    """Without a node of the main graph."""
    return lambda proto: proto.graph.node.remove(node(proto, name))


def opset(version: int, domain: str = "") -> Edit:
    """The import of a domain, replaced or added."""

    def edit(proto: ModelProto) -> None:
        kept = [o for o in proto.opset_import if o.domain != domain]
        del proto.opset_import[:]
        proto.opset_import.extend([*kept, helper.make_opsetid(domain, version)])

    return edit


def ir(version: int) -> Edit:
    """The ``ir_version``."""
    return lambda proto: setattr(proto, "ir_version", version)


def port(name: str, dtype: ElementType, shape: list[int | str | None] | None) -> Edit:
    """The declared type of a graph input or output."""

    def edit(proto: ModelProto) -> None:
        values = [*proto.graph.input, *proto.graph.output]
        next(v for v in values if v.name == name).CopyFrom(helper.make_tensor_value_info(name, dtype.code, shape))

    return edit
