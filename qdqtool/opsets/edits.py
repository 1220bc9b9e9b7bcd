"""The small change that lets a node move: an attribute dropped or written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onnx import NodeProto, helper

from qdqtool.opsets.attributes import Opaque, Value, Values, show


@dataclass(frozen=True, slots=True)
class AttributeEdit:
    """Write `value` to the attribute `name`, or drop it when `value` is None."""

    name: str
    value: Value | None

    def __str__(self) -> str:
        return f"{self.name} dropped" if self.value is None else f"{self.name}={show(self.value)} written"


def carry_out(node: NodeProto, edits: Iterable[AttributeEdit]) -> None:
    """Change the node in place; attributes that no edit names keep their bytes and order."""
    for edit in edits:
        index = next((i for i, a in enumerate(node.attribute) if a.name == edit.name), None)
        if edit.value is None:
            if index is not None:
                del node.attribute[index]
            continue
        written = helper.make_attribute(edit.name, edit.value)
        if index is None:
            node.attribute.append(written)
            continue
        if node.attribute[index].HasField("doc_string"):
            written.doc_string = node.attribute[index].doc_string
        node.attribute[index].CopyFrom(written)


def edited(values: Values, edits: Iterable[AttributeEdit]) -> Values:
    """The attributes as they are after the edits."""
    after = {name: (name, kind, item) for name, kind, item in values}
    for edit in edits:
        if edit.value is None:
            after.pop(edit.name, None)
        else:
            after[edit.name] = (edit.name, _kind(edit.value), edit.value)
    return tuple(after.values())


def _kind(item: Value) -> str:
    if isinstance(item, Opaque):
        return item.kind
    if isinstance(item, tuple):
        return _kind(item[0]) + "S" if item else "INTS"
    return {int: "INT", float: "FLOAT", bytes: "STRING"}[type(item)]
