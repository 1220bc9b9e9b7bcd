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


def require_sound(model: ModelProto, *, tidy: bool = False) -> None:
    """Unreadable, naming the first faults, when the wiring of a model is broken; that of a tidy one (``View.tidy``) is not."""
    found = [] if tidy else faults(model)
    if found:
        more = [f"{fault.message} ({fault.where})" for fault in found[1:_SHOWN]]
        rest = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        hint = "the model is damaged, ONNX Runtime refuses it too; export it again"
        raise Unreadable(found[0].code, found[0].message, where=found[0].where, why="; ".join(more + rest), hint=hint)


def faults(model: ModelProto) -> list[Fault]:
    """Values defined twice in one scope, values read but defined nowhere, cycles, functions that call themselves, garbled operators."""
    found = [*_garbled(model), *_scope(model.graph, "main", frozenset()), *_recursive(model.functions)]
    for function in model.functions:
        found += _scope(function, f"function {function.name}", frozenset())
    return found


def _garbled(model: ModelProto) -> Iterator[Fault]:
    """Where there is no UTF-8, protobuf hands out bytes."""
    for holder, where in ((model, ""), *((f, f"function {f.name}") for f in model.functions)):
        names = [entry.domain for entry in holder.opset_import]
        names += [holder.domain, holder.name] if isinstance(holder, FunctionProto) else []
        yield from (Fault("garbled-name", where, f"a domain or function is no text: {n!r}") for n in names if not isinstance(n, str))


def order(nodes: Sequence[NodeProto]) -> list[int]:
    """Indices of `nodes` such that each follows those it reads from, also out of its subgraphs.

    A sorted list stays as it is, else each node moves as little as needed. Unreadable when nodes wait for each other.
    """
    places, waiting = _order(nodes)
    if waiting:
        raise Unreadable("cycle", f"nodes wait for each other: {_some(label(nodes[i]) for i in waiting)}", hint="export the model again")
    return places


def premature(nodes: Sequence[NodeProto]) -> list[int]:
    """Indices of nodes that stand before one whose result they read."""
    producer = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    return [index for index, node in enumerate(nodes) if any(producer.get(name, -1) > index for name in _operands(node))]


def _order(nodes: Sequence[NodeProto]) -> tuple[list[int], list[int]]:
    producer = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    if not any(producer.get(name, -1) >= index for index, node in enumerate(nodes) for name in _operands(node)):
        return list(range(len(nodes))), []
    return _sorted([{producer[name] for name in _operands(node) if name in producer} for node in nodes])


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


def _operands(node: NodeProto) -> Iterable[str]:
    """As `reads`, perhaps with doubles and empty names; most nodes have nothing but operands."""
    return reads(node) if node.attribute else node.input


def _captured(graph: GraphProto) -> set[str]:
    inside = {name for node in graph.node for name in reads(node)} | {value.name for value in graph.output}
    return inside - set(_definitions(graph))


def _definitions(body: GraphProto | FunctionProto) -> list[str]:
    """Names that a scope defines, one for each definition."""
    return [*_given(body), *(name for node in body.node for name in node.output if name)]


def _given(body: GraphProto | FunctionProto) -> list[str]:
    """Those that no node defines; an initializer may be the default of an input of its name."""
    if isinstance(body, FunctionProto):
        return list(body.input)
    inputs = [value.name for value in body.input]
    tensors = [t.name for t in body.initializer] + [s.values.name for s in body.sparse_initializer]
    known = set(inputs)
    defaults = Counter(name for name in tensors if name in known)
    twice = [name for name, count in defaults.items() for _ in range(count - 1)]
    return [*inputs, *(name for name in tensors if name and name not in known), *twice]


def _scope(body: GraphProto | FunctionProto, title: str, outside: frozenset[str]) -> Iterator[Fault]:
    names = _definitions(body)
    visible = outside | frozenset(names)
    if len(set(names)) < len(names) or not _tidy(body, outside):
        yield from _own(body, title, names, visible)
    for node in body.node:
        for attribute, graph in subgraphs(node) if node.attribute else ():
            yield from _scope(graph, f"{title} / {label(node)}.{attribute}", visible)


def _tidy(body: GraphProto | FunctionProto, outside: frozenset[str]) -> bool:
    """Sorted, nothing missing and nothing garbled: what one pass shows of nearly every graph."""
    known = {*outside, *_given(body), ""}
    for node in body.node:
        if not known.issuperset(_operands(node)) or not _is_text(node):
            return False
        known.update(node.output)
    results = body.output if isinstance(body, FunctionProto) else [value.name for value in body.output]
    return "" not in results and known.issuperset(results)


def _is_text(node: NodeProto) -> bool:
    return isinstance(node.op_type, str) and isinstance(node.domain, str)


def _own(body: GraphProto | FunctionProto, title: str, names: Sequence[str], visible: frozenset[str]) -> Iterator[Fault]:
    """The faults of a scope, without those of its subgraphs."""
    for name, count in Counter(names).items():
        if count > 1:
            yield Fault("defined-twice", title, f"value '{name}' is defined {count} times")
    yield from _undefined(body, title, visible)
    _, waiting = _order(body.node)
    if waiting:
        yield Fault("cycle", title, f"nodes wait for each other: {_some(label(body.node[i]) for i in waiting)}")


def _undefined(body: GraphProto | FunctionProto, title: str, visible: frozenset[str]) -> Iterator[Fault]:
    for node in body.node:
        if not _is_text(node):
            yield Fault("garbled-name", f"{title} / {label(node)}", f"operator or domain is no text: {node.op_type!r}, {node.domain!r}")
        for name in node.input:
            if name and name not in visible:
                yield Fault("undefined-value", f"{title} / {label(node)}", f"the node reads '{name}', which nothing defines")
    for output in body.output:
        name = getattr(output, "name", output)
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
