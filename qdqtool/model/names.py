"""Names that are still free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import NodeProto

from qdqtool.model.graph import View


class Names:
    """Names that no value or node of the model has, in any scope."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    @classmethod
    def of_view(cls, view: View) -> Names:
        return cls(name for scope in view.scopes.values() for name in _names(scope.nodes, (*scope.inputs, *scope.initializers)))

    def fresh(self, wanted: str) -> str:
        """`wanted`, with a number behind it where it is taken."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


def _names(nodes: Iterable[NodeProto], more: Iterable[str]) -> Iterator[str]:
    yield from more
    for node in nodes:
        yield node.name
        yield from node.input
        yield from node.output
