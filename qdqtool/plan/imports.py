"""The opset imports of a changed model and of each of its functions."""

from __future__ import annotations

from onnx import FunctionProto, ModelProto, helper

from qdqtool.model.graph import View, domain


def stamp(holder: ModelProto | FunctionProto, opset: int, domains: set[str]) -> None:
    """Import the default domain once, at `opset`, and `domains` where they are not imported."""
    default = [i for i, o in enumerate(holder.opset_import) if domain(o.domain) == ""]
    for index in reversed(default[1:]):
        del holder.opset_import[index]
    if default:
        holder.opset_import[default[0]].version = opset
    else:
        holder.opset_import.append(helper.make_opsetid("", opset))
    have = {domain(o.domain) for o in holder.opset_import}
    holder.opset_import.extend(helper.make_opsetid(name, 1) for name in sorted(domains - have))


def forget(proto: ModelProto, candidates: set[str]) -> None:
    """Drop imports of domains that only replaced nodes used."""
    used = {domain(node.domain) for _, _, node in View(proto).places()} if candidates else set()
    for holder in (proto, *proto.functions):
        for index in reversed(range(len(holder.opset_import))):
            if holder.opset_import[index].domain in candidates - used:
                del holder.opset_import[index]
