"""Imports that nothing uses: a reader that checks the version of every import must not stumble over them."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import FunctionProto, ModelProto

from qdqtool.model.graph import View, domain


def drop(proto: ModelProto, limits: Mapping[str, int]) -> list[str]:
    """Take out imports above `limits` (by domain) that no node needs, in the model and its functions, and say so."""
    used = {domain(node.domain) for _, _, node in View(proto).places()} | {domain(f.domain) for f in proto.functions}
    return list(dict.fromkeys(note for holder in (proto, *proto.functions) for note in _drop(holder, limits, used)))


def _drop(holder: ModelProto | FunctionProto, limits: Mapping[str, int], used: set[str]) -> list[str]:
    high = [i for i, o in enumerate(holder.opset_import) if o.version > limits.get(o.domain, o.version) and o.domain not in used]
    notes = [f"the import of {o.domain} {o.version}, which nothing uses, is gone" for o in (holder.opset_import[i] for i in high)]
    for index in reversed(high):
        del holder.opset_import[index]
    return notes
