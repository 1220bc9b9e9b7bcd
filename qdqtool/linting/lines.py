"""A model in lines, one for each node and tensor, so that two versions of it can be compared by reading."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from onnx import FunctionProto, GraphProto, ModelProto, TensorProto, helper

from qdqtool import dtypes
from qdqtool.model.graph import imports_of, label, subgraphs


def difference(before: list[str], after: list[str], name: str) -> str:
    """A unified diff without context; empty when nothing differs."""
    found = difflib.unified_diff(before, after, f"{name} before", f"{name} after", n=0, lineterm="")
    return "".join(f"{line}\n" for line in found if not line.startswith("@@"))


def lines(model: ModelProto) -> list[str]:
    """Header, initializers and nodes of all scopes."""
    imports = ", ".join(f"{name or 'ai.onnx'} {version}" for name, version in imports_of(model.opset_import).items())
    found = [f"ir_version {model.ir_version}", f"opset {imports}", *_scope(model.graph, "main")]
    for function in model.functions:
        found += _scope(function, f"function {function.name}")
    return found


def _scope(body: GraphProto | FunctionProto, title: str) -> Iterator[str]:
    if isinstance(body, GraphProto):
        yield f"{title}: ({', '.join(v.name for v in body.input)}) => ({', '.join(v.name for v in body.output)})"
        yield from (f"{title}: {_tensor(tensor)}" for tensor in body.initializer)
    for node in body.node:
        yield f"{title}: {' '.join(filter(None, (node.name, str(helper.printable_node(node)).strip())))}"
        for attribute, graph in subgraphs(node):
            yield from _scope(graph, f"{title} / {label(node)}.{attribute}")


def _tensor(tensor: TensorProto) -> str:
    """Small values are shown, so that a change of them is too."""
    known = dtypes.of_code(tensor.data_type)
    head = f"{tensor.name} = {known.name if known else tensor.data_type}{list(tensor.dims)}"
    return f"{head} {tensor.raw_data[:8].hex()}" if tensor.HasField("raw_data") and len(tensor.raw_data) <= 8 else head
