"""A model run in pieces: one session after the other, each with only the constants that its nodes read.

With optimizations off the results are those of one session, but for float16, which a cut rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, TypeProto, ValueInfoProto

from qdqtool import dtypes
from qdqtool.check import sessions
from qdqtool.check.fragments import value_info
from qdqtool.check.segments import Cuts
from qdqtool.check.sessions import CannotRun, Setting, Value
from qdqtool.kernels.sources import Array
from qdqtool.model.structure import order, reads


@dataclass(frozen=True, slots=True)
class _Piece:
    """Nodes between two cuts, by index; the values they read from outside, and those that are read later or wanted."""

    nodes: tuple[int, ...]
    reads: frozenset[str]
    gives: tuple[str, ...]


def run(
    model: ModelProto, at: Cuts, data: Path | None, setting: Setting, inputs: Mapping[str, Array], wanted: Sequence[str]
) -> dict[str, Value]:
    """Outputs by name, as `sessions.run` gives them.

    Raises
    ------
    CannotRun
        A piece does not load or run, or a value cannot be handed from one to the next.
    """
    values: dict[str, Value] = dict(inputs)
    made: set[str] = set()
    todo = _pieces(model, at, wanted)
    while todo:
        piece = todo.pop(0)
        fed = {name: values[name] for name in piece.reads if name in values}
        part = _as_model(model, piece, {name: value for name, value in fed.items() if name in made})
        values |= _run(part, data, setting, fed, piece.gives)
        made |= set(piece.gives)
        needed = set(wanted).union(*(later.reads for later in todo))
        values = {name: value for name, value in values.items() if name in needed}
    return {name: values[name] for name in wanted}


def _run(part: ModelProto, data: Path | None, setting: Setting, fed: Mapping[str, Value], gives: Sequence[str]) -> dict[str, Value]:
    """One session, gone when this returns."""
    with sessions.session(part.SerializeToString(), setting, data=data) as opened:
        return sessions.run(opened, fed, gives)


def _pieces(model: ModelProto, at: Cuts, wanted: Sequence[str]) -> list[_Piece]:
    """The main graph cut after the producers of these values; Constant nodes are in every piece that reads them."""
    nodes, ends = model.graph.node, set(at)
    parts: list[list[int]] = [[]]
    for index in order(nodes):
        if not _constant(nodes[index]):
            parts[-1].append(index)
        if ends.intersection(nodes[index].output):
            parts.append([])
    made = [{name for index in part for name in nodes[index].output if name} for part in parts]
    constant, later = set(wanted).difference(*made), set(wanted)
    found: list[_Piece] = []
    for part, own in zip(reversed(parts), reversed(made), strict=True):
        own, constant = own | constant, set()
        read = {name for index in part for name in reads(nodes[index])}
        gives = own & later
        outside = (read | gives) - {name for index in part for name in nodes[index].output}
        found += [_Piece(tuple(part), frozenset(outside), tuple(sorted(gives)))] if gives else []
        later |= read
    return found[::-1]


def _constant(node: NodeProto) -> bool:
    return node.op_type == "Constant" and not node.input


def _as_model(model: ModelProto, piece: _Piece, carried: Mapping[str, Value]) -> ModelProto:
    part, old = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions), model.graph
    new, inside = part.graph, {name for index in piece.nodes for name in old.node[index].output}
    new.name = old.name
    new.node.extend(node for node in old.node if _constant(node) and piece.reads.intersection(node.output))
    new.node.extend(old.node[index] for index in piece.nodes)
    new.initializer.extend(tensor for tensor in old.initializer if tensor.name in piece.reads)
    new.sparse_initializer.extend(tensor for tensor in old.sparse_initializer if tensor.values.name in piece.reads)
    new.input.extend(info for info in old.input if info.name in piece.reads)
    new.input.extend(_declared(name, value) for name, value in carried.items())
    new.value_info.extend(info for info in old.value_info if info.name in inside.difference(piece.gives))
    declared = {info.name: info for info in (*old.value_info, *old.output)}
    new.output.extend(declared.get(name, ValueInfoProto(name=name)) for name in piece.gives)
    return part


def _declared(name: str, value: Value) -> ValueInfoProto:
    if isinstance(value, list) and value:
        element = _declared("", value[0]).type.tensor_type.elem_type
        return ValueInfoProto(name=name, type=TypeProto(sequence_type=TypeProto.Sequence(elem_type=_tensor(element))))
    if not isinstance(value, np.ndarray):
        raise CannotRun(f"the type of {name} is not known")
    dtype = dtypes.STRING if value.dtype.kind in "OUS" else dtypes.of_numpy(value.dtype)
    return value_info(name, dtype, value.shape)


def _tensor(element: int) -> TypeProto:
    return TypeProto(tensor_type=TypeProto.Tensor(elem_type=element))
