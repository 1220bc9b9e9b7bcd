"""Faults that converters and hands make, planted by seed: each returns the nodes one may blame and a word of the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from qdqtool.model import tensors
from qdqtool.model.graph import label

Array = np.ndarray[Any, np.dtype[Any]]
Change = Callable[[Array, np.random.Generator], Array]


class Planted(NamedTuple):
    """The node at fault, in words, and what the reason must say."""

    node: str
    word: str


def nodes(proto: ModelProto, op: str, *, on_constant: bool | None = None) -> list[NodeProto]:
    """All nodes of an operator; of steps, those on a constant or those on a run-time value."""
    constants = {tensor.name for tensor in proto.graph.initializer}
    found = [n for n in proto.graph.node if n.op_type == op]
    return [n for n in found if on_constant is None or (n.input[0] in constants) is on_constant]


def pick(found: list[NodeProto], rng: np.random.Generator) -> NodeProto:
    return found[int(rng.integers(len(found)))]


def constant(proto: ModelProto, name: str) -> TensorProto:
    return next(tensor for tensor in proto.graph.initializer if tensor.name == name)


def own(proto: ModelProto, node: NodeProto, slot: int, change: Change, rng: np.random.Generator) -> None:
    """Give one node a changed constant of its own."""
    old = constant(proto, node.input[slot])
    node.input[slot] = f"{old.name}_of_{len(proto.graph.initializer)}"
    proto.graph.initializer.append(tensors.make(node.input[slot], change(tensors.array(old, None).copy(), rng)))


def operand(op: str, slot: int, change: Change, word: str, *, on_constant: bool | None = None) -> Callable[..., Planted]:
    """Change an operand of a node of this kind that has it."""

    def plant(proto: ModelProto, rng: np.random.Generator) -> Planted:
        names = {tensor.name for tensor in proto.graph.initializer}
        found = [n for n in nodes(proto, op, on_constant=on_constant) if slot < len(n.input) and n.input[slot] in names]
        node = pick(found, rng)
        own(proto, node, slot, change, rng)
        return Planted(label(node), word)

    return plant


def attribute(op: str, name: str, value: Any, word: str, *, on_constant: bool | None = None) -> Callable[..., Planted]:
    """Set an attribute."""

    def plant(proto: ModelProto, rng: np.random.Generator) -> Planted:
        node = pick(nodes(proto, op, on_constant=on_constant), rng)
        kept = [a for a in node.attribute if a.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute(name, value)])
        return Planted(label(node), word)

    return plant


def bypassed(op: str) -> Callable[..., Planted]:
    """Take a node out; its readers read what it read."""

    def plant(proto: ModelProto, rng: np.random.Generator) -> Planted:
        node = pick(nodes(proto, op), rng)
        planted = Planted(label(node), f"only the first has {op}")
        for other in proto.graph.node:
            other.input[:] = [node.input[0] if name == node.output[0] else name for name in other.input]
        proto.graph.node.remove(node)
        return planted

    return plant


def replaced(op: str, by: str) -> Callable[..., Planted]:
    """Another operator in the place of a node."""

    def plant(proto: ModelProto, rng: np.random.Generator) -> Planted:
        node = pick(nodes(proto, op), rng)
        node.op_type = by
        return Planted(label(node), f"the first has {op} {node.name} where the second has {by}")

    return plant


def dropped(op: str, slot: int, word: str, *, on_constant: bool | None = None) -> Callable[..., Planted]:
    """Leave an optional operand out."""

    def plant(proto: ModelProto, rng: np.random.Generator) -> Planted:
        found = [n for n in nodes(proto, op, on_constant=on_constant) if len(n.input) == slot + 1]
        node = pick(found, rng)
        del node.input[slot:]
        return Planted(label(node), word)

    return plant


def other_axis(proto: ModelProto, rng: np.random.Generator) -> Planted:
    """Scales along the second axis instead of the first; the weight is as long there."""
    found = [n for n in nodes(proto, "DequantizeLinear", on_constant=True) if len(constant(proto, n.input[0]).dims) > 1]
    node = pick([n for n in found if n.attribute[0].i == 0], rng)
    node.attribute[0].i = 1
    return Planted(label(node), "axis 0 became 1")


def truncated(proto: ModelProto, rng: np.random.Generator) -> Planted:
    """Division and a Cast in the place of a quantize node: rounds toward zero."""
    node = pick(nodes(proto, "QuantizeLinear"), rng)
    x, scale, zero = node.input
    kind = constant(proto, zero).data_type
    made = [
        helper.make_node("Div", [x, scale], ["t_quotient"]),
        helper.make_node("Cast", ["t_quotient"], ["t_whole"], to=TensorProto.INT32),
        helper.make_node("Cast", [zero], ["t_zero"], to=TensorProto.INT32),
        helper.make_node("Add", ["t_whole", "t_zero"], ["t_sum"]),
        helper.make_node("Cast", ["t_sum"], ["t_real"], to=TensorProto.FLOAT),
        helper.make_node("Clip", ["t_real", "t_low", "t_high"], ["t_held"]),
        helper.make_node("Cast", ["t_held"], list(node.output), to=kind),
    ]
    info = np.iinfo(helper.tensor_dtype_to_np_dtype(kind))
    proto.graph.initializer.extend(tensors.make(n, np.float32(v)) for n, v in (("t_low", info.min), ("t_high", info.max)))
    place = list(proto.graph.node).index(node)
    rest, planted = list(proto.graph.node), Planted(label(node), "the first has QuantizeLinear")
    del proto.graph.node[:]
    proto.graph.node.extend([*rest[:place], *made, *rest[place + 1 :]])
    return planted


def times(factor: float) -> Change:
    return lambda values, rng: (values * values.dtype.type(factor)).astype(values.dtype)


def one_channel(values: Array, rng: np.random.Generator) -> Array:
    values.reshape(-1)[int(rng.integers(values.size))] *= 3
    return values


def inverse(values: Array, rng: np.random.Generator) -> Array:
    return np.asarray(1 / values, values.dtype)


def shifted(by: int) -> Change:
    return lambda values, rng: np.asarray(values.astype(np.int64) + by).astype(values.dtype)


def turned(values: Array, rng: np.random.Generator) -> Array:
    return np.ascontiguousarray(np.swapaxes(values, 0, 1))


def swapped(axis: int) -> Change:
    """Two slices change places."""

    def change(values: Array, rng: np.random.Generator) -> Array:
        order = np.arange(values.shape[axis])
        i, j = rng.choice(len(order), 2, replace=False)
        order[[i, j]] = order[[j, i]]
        return np.ascontiguousarray(np.take(values, order, axis))

    return change


def neighbours(values: Array, rng: np.random.Generator) -> Array:
    """As when the two codes of a byte are taken in the wrong order."""
    return np.ascontiguousarray(values.reshape(-1, 2)[:, ::-1]).reshape(values.shape)


def nudged(values: Array, rng: np.random.Generator) -> Array:
    """A tenth of the codes one step up, as another rounding gives them."""
    whole = values.astype(np.int64)
    chosen = (rng.random(values.shape) < 0.1) & (whole < 7)
    return (whole + chosen).astype(values.dtype)


def one_code(values: Array, rng: np.random.Generator) -> Array:
    place = int(rng.integers(values.size))
    values.reshape(-1)[place] = np.asarray(-int(values.reshape(-1)[place].astype(np.int64)) - 1).astype(values.dtype)
    return values
