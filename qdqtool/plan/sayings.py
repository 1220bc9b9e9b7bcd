"""What nodes become, remembered: those that differ only in names are said otherwise once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onnx import AttributeProto, NodeProto

from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array
from qdqtool.opsets.adapt import Adapted, adapt
from qdqtool.opsets.bodies import renamed
from qdqtool.opsets.situation import Situation


@dataclass(frozen=True, slots=True)
class _Plain:
    """A situation under plain names."""

    around: Situation
    names: Mapping[str, str]

    def type_of(self, name: str) -> ElementType | None:
        return self.around.type_of(self.names[name]) if name in self.names else None

    def shape_of(self, name: str) -> Sequence[int | None] | None:
        return self.around.shape_of(self.names[name]) if name in self.names else None

    def value_of(self, name: str) -> Array | None:
        return self.around.value_of(self.names[name]) if name in self.names else None


class Sayings:
    """Answers of `adapt` by what they depend on."""

    def __init__(self) -> None:
        self._known: dict[Any, Adapted | None] = {}

    def adapt(self, node: NodeProto, source: int, target: int, around: Situation) -> Adapted | list[str]:
        """As ``opsets.adapt.adapt``. Nodes with bodies are not remembered, and reasons, which name values, are found anew."""
        if any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for a in node.attribute):
            return adapt(node, source, target, around)
        names = {name: str(i) for i, name in enumerate(dict.fromkeys(n for n in (*node.input, *node.output) if n))}
        plain = renamed(node, names)
        for remark in ("name", "doc_string", "metadata_props"):
            plain.ClearField(remark)
        key = (plain.SerializeToString(deterministic=True), source, target, tuple(_known(name, around) for name in names))
        if key not in self._known:
            found = adapt(plain, source, target, _Plain(around, {short: name for name, short in names.items()}))
            self._known[key] = found if isinstance(found, Adapted) else None
        known = self._known[key]
        return adapt(node, source, target, around) if known is None else _under(known, names)


def _known(name: str, around: Situation) -> tuple[Any, ...]:
    shape, value = around.shape_of(name), around.value_of(name)
    data = None if value is None else (value.dtype.str, value.shape, value.tobytes())
    return around.type_of(name), None if shape is None else tuple(shape), data


def _under(found: Adapted, names: Mapping[str, str]) -> Adapted:
    """The nodes under the names of the model; inner names begin with that of a result."""
    back = {short: name for name, short in names.items()}
    taken = set(names)
    made = dict.fromkeys([*found.constants, *(o for node in found.nodes for o in node.output if o)])
    for inner in (name for name in made if name not in back):
        head, _, rest = inner.partition("_")
        wanted = back.get(head, head) + (f"_{rest}" if rest else "")
        while wanted in taken:
            wanted += "_"
        taken.add(wanted)
        back[inner] = wanted
    nodes = tuple(renamed(node, back) for node in found.nodes)
    return replace(found, nodes=nodes, constants={back[name]: array for name, array in found.constants.items()})
