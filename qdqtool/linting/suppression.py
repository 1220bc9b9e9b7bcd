"""Findings that the model itself silences: ``metadata_props`` with the key ``qdqtool.ignore`` on a node, a graph, a function or the model.

The value names rules as ``--ignore`` does, separated by commas or blanks. What a graph or node ignores is ignored in its subgraphs too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from onnx import FunctionProto, GraphProto, ModelProto

from qdqtool.linting.selection import means
from qdqtool.model.graph import label, subgraphs

KEY = "qdqtool.ignore"
Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Suppression:
    """What is ignored everywhere, below a scope, and at a node; scopes and nodes by their titles."""

    everywhere: Words
    scopes: dict[str, Words]
    nodes: dict[str, Words]

    def silences(self, code: str, name: str, at: str) -> bool:
        """Whether a finding is not to be reported."""
        below = (words for scope, words in self.scopes.items() if at == scope or at.startswith(f"{scope} / "))
        return any(means(word, code, name) for words in (self.everywhere, self.nodes.get(at, ()), *below) for word in words)


def suppression(proto: ModelProto) -> Suppression:
    """What a model silences."""
    found = Suppression(_words(proto.metadata_props), {}, {})
    _scope(proto.graph, "main", found, frozenset())
    for function in proto.functions:
        _scope(function, f"function {function.name}", found, frozenset())
    return found


def _scope(body: GraphProto | FunctionProto, title: str, found: Suppression, above: Words) -> None:
    words = above | _words(body.metadata_props)
    if words:
        found.scopes[title] = words
    for node in body.node:
        own = _words(node.metadata_props) if node.metadata_props else frozenset()
        place = f"{title} / {label(node)}" if own or node.attribute else ""
        if own:
            found.nodes[place] = own
        for attribute, graph in subgraphs(node) if node.attribute else ():
            _scope(graph, f"{place}.{attribute}", found, own)


def _words(metadata: Sequence[Any] | Iterable[Any]) -> Words:
    return frozenset(_split(entry.value for entry in metadata if entry.key == KEY))


def _split(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        yield from value.replace(",", " ").split()
