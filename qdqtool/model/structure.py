"""Faults in the wiring of a model that ONNX Runtime refuses too, found before anything stumbles over them.

Unsorted nodes are no fault: real exporters write them and ONNX Runtime runs them; `order` sorts.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from qdqtool.errors import Unreadable
from qdqtool.model.graph import domain, label, subgraphs

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: a stable code, the scope and node in words, and what is wrong."""

    code: str
    where: str
    message: str


def require_sound(model: ModelProto) -> None:
    """Unreadable, naming the first faults, when the wiring of a model is broken."""
    found = faults(model)
    if found:
        more = [f"{fault.message} ({fault.where})" for fault in found[1:_SHOWN]]
        rest = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        hint = "the model is damaged, ONNX Runtime refuses it too; export it again"
        raise Unreadable(found[0].code, found[0].message, where=found[0].where, why="; ".join(more + rest), hint=hint)


def faults(model: ModelProto) -> list[Fault]:
    """Values defined twice in one scope, values read but defined nowhere, cycles, and functions that call themselves."""
    found = [*_scope(model.graph, "main", frozenset()), *_recursive(model.functions)]
    for function in model.functions:
        found += _scope(function, f"function {function.name}", frozenset())
    return found


def order(nodes: Sequence[NodeProto]) -> list[int]:
    """Indices of `nodes` such that each follows those it reads from, also out of its subgraphs.

    A sorted list stays as it is, else each node moves as little as needed. Unreadable when nodes wait for each other.
    """
    places, waiting = _order(nodes)
    if waiting:
        raise Unreadable("cycle", f"nodes wait for each other: {_some(label(nodes[i]) for i in waiting)}", hint="export the model again")
    return places


def _order(nodes: Sequence[NodeProto]) -> tuple[list[int], list[int]]:
    producer = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    needs = [{producer[name] for name in reads(node) if name in producer} for node in nodes]
    if all(not need or max(need) < index for index, need in enumerate(needs)):
        return list(range(len(nodes))), []
    return _sorted(needs)


def _sorted(needs: list[set[int]]) -> tuple[list[int], list[int]]:
    readers: list[list[int]] = [[] for _ in needs]
    for index, need in enumerate(needs):
        for other in need:
            readers[other].append(index)
    left = [len(need) for need in needs]
    ready = [index for index, count in enumerate(left) if count == 0]
    done: list[int] = []
    while ready:
        done.append(heapq.heappop(ready))
        for reader in readers[done[-1]]:
            left[reader] -= 1
            if left[reader] == 0:
                heapq.heappush(ready, reader)
    return done, [index for index, count in enumerate(left) if count]


def reads(node: NodeProto) -> set[str]:
    """Names that a node reads, also those that its subgraphs take from outside."""
    names = {name for name in node.input if name}
    for _, graph in subgraphs(node):
        names |= _captured(graph)
    return names


def _captured(graph: GraphProto) -> set[str]:
    inside = {name for node in graph.node for name in reads(node)} | {value.name for value in graph.output}
    return inside - set(_definitions(graph))


def _definitions(body: GraphProto | FunctionProto) -> list[str]:
    """Names that a scope defines, one for each definition; an initializer may be the default of an input of its name."""
    outputs = [name for node in body.node for name in node.output if name]
    if isinstance(body, FunctionProto):
        return [*body.input, *outputs]
    inputs = [value.name for value in body.input]
    tensors = [t.name for t in body.initializer] + [s.values.name for s in body.sparse_initializer]
    known = set(inputs)
    defaults = Counter(name for name in tensors if name in known)
    twice = [name for name, count in defaults.items() for _ in range(count - 1)]
    return [*inputs, *(name for name in tensors if name and name not in known), *twice, *outputs]


def _scope(body: GraphProto | FunctionProto, title: str, outside: frozenset[str]) -> Iterator[Fault]:
    names = _definitions(body)
    for name, count in Counter(names).items():
        if count > 1:
            yield Fault("defined-twice", title, f"value '{name}' is defined {count} times")
    visible = outside | frozenset(names)
    yield from _undefined(body, title, visible)
    _, waiting = _order(body.node)
    if waiting:
        yield Fault("cycle", title, f"nodes wait for each other: {_some(label(body.node[i]) for i in waiting)}")
    for node in body.node:
        for attribute, graph in subgraphs(node):
            yield from _scope(graph, f"{title} / {label(node)}.{attribute}", visible)


def _undefined(body: GraphProto | FunctionProto, title: str, visible: frozenset[str]) -> Iterator[Fault]:
    for node in body.node:
        for name in node.input:
            if name and name not in visible:
                yield Fault("undefined-value", f"{title} / {label(node)}", f"the node reads '{name}', which nothing defines")
    for output in body.output:
        name = output if isinstance(output, str) else output.name
        if name not in visible:
            yield Fault("undefined-value", title, f"output '{name}' is defined by nothing")


def _recursive(functions: Sequence[FunctionProto]) -> Iterator[Fault]:
    index = {(domain(f.domain), f.name, f.overload): number for number, f in enumerate(functions)}
    _, waiting = _sorted([{index[call] for call in _calls(f.node) if call in index} for f in functions])
    if waiting:
        names = [functions[i].name for i in waiting]
        yield Fault("recursive-function", f"function {names[0]}", f"functions call themselves or each other: {_some(iter(names))}")


def _calls(nodes: Iterable[NodeProto]) -> Iterator[tuple[str, str, str]]:
    for node in nodes:
        yield domain(node.domain), node.op_type, node.overload
        for _, graph in subgraphs(node):
            yield from _calls(graph.node)


def _some(names: Iterator[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_SHOWN]) + (f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else "")
