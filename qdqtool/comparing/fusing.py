"""Where a runtime computes several nodes as one, and so gives another result than the nodes one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from onnx import NodeProto

from qdqtool.check.info import weight_only
from qdqtool.check.sessions import CannotRun
from qdqtool.comparing.causes import Faults, at, grouped, known
from qdqtool.comparing.locating import Parting, Task, movable, partings
from qdqtool.comparing.pairs import Pairs
from qdqtool.comparing.sides import Side
from qdqtool.comparison import Place
from qdqtool.model.structure import reads

_OPTIMIZERS = {
    "QDQSelectorActionTransformer": "ONNX Runtime joins these nodes into an integer operator",
    "DoubleQDQPairsRemover": "ONNX Runtime merges quantize and dequantize nodes that follow each other",
    "WeightBiasQuantization": "ONNX Runtime quantizes the bias itself",
}
_INT8 = "it quantizes the activations to int8 (accuracy level 4)"


def joined(task: Task, found: Pairs, faults: Faults) -> list[Place]:
    """Units around whole operators that part although their nodes, one by one, do not; where none does, those that round."""
    parts = units(task.a, {x: y for x, y in found.items() if movable(task, task.values[x])})
    apart = partings(task, parts, joined=True)
    parted = [p for p in apart if p.judgement.level == "different"]
    if not parted:
        return grouped([at(task.a, task.b, p, "rounding", ()) for p in apart])
    cured = _cured(task, parts, parted)
    return grouped([at(task.a, task.b, p, "fusion", _why(task, p, cured, faults)) for p in parted])


def units(side: Side, found: Pairs) -> Pairs:
    """Cuts that leave whole what runtimes join: steps with the operator between them, constants with their readers."""
    readers: Mapping[str, list[NodeProto]] = defaultdict(list)
    for node in side.nodes:
        for name in reads(node):
            readers[name].append(node)
    constant = _constant(side)
    return {x: y for x, y in found.items() if x not in constant and not _inner(side, x, readers[x], found)}


def _constant(side: Side) -> set[str]:
    """Values that are computed from constants alone."""
    found = set(side.initializers)
    for node in side.nodes:
        if all(name in found for name in reads(node)):
            found |= set(node.output)
    return found


def _inner(side: Side, value: str, readers: Sequence[NodeProto], found: Pairs) -> bool:
    """Between a step and its operator; what is dequantized stays a cut where its codes cannot be one."""
    maker = side.maker(value)
    if value in side.signature.outputs:
        return False
    return (maker is not None and maker.op_type == "DequantizeLinear" and maker.input[0] in found) or {
        node.op_type for node in readers
    } == {"QuantizeLinear"}


def _cured(task: Task, parts: Pairs, parted: Sequence[Parting]) -> dict[str, str]:
    """By value, the optimizer of ONNX Runtime without which it does not part."""
    cured: dict[str, str] = {}
    if not parted or not task.other.setting.optimized or task.other.apart:
        return cured
    for optimizer in _OPTIMIZERS:
        try:
            left = partings(replace(task, other=task.other.optimized(without=(optimizer,))), parts, joined=True)
        except CannotRun:
            continue
        still = {p.value for p in left if p.judgement.level == "different"}
        cured |= {p.value: optimizer for p in parted if p.value not in still and p.value not in cured}
    return cured


def _why(task: Task, parting: Parting, cured: Mapping[str, str], faults: Faults) -> list[str]:
    found = known(task.b, parting.after, faults)
    levels = [a.i for node in parting.after for a in node.attribute if a.name == "accuracy_level"]
    if 4 in levels:
        found.append(f"accuracy_level 4: {_INT8.removesuffix(' (accuracy level 4)')}")
    optimizer = cured.get(parting.value)
    if optimizer is None:
        return found or ["the nodes one by one give the same; the runtime computes them as one"]
    fused = set(weight_only(task.b.proto())) & {name for node in parting.after for name in (node.name, node.output[0])}
    joins = f"ONNX Runtime makes them MatMulNBits: {_INT8}" if fused else _OPTIMIZERS[optimizer]
    return [*found, joins, f"disabled_optimizers=['{optimizer}'] prevents it"]
