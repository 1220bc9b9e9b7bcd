"""Which values to look at: all while memory allows, else a part spread over the model, then those around what parts."""

from __future__ import annotations

from collections.abc import Sequence

from qdqtool.check.inside import sizes
from qdqtool.check.randomness import random_values
from qdqtool.check.runs import Inputs
from qdqtool.comparing.sides import Side
from qdqtool.model.structure import reads

ROOM = 1 << 27
"""Bytes of values that are held of one model at a time."""

_UNKNOWN = 1 << 16


def watchable(side: Side, other: Side) -> list[str]:
    """Results of nodes, and constants that are such a result in the other model; nothing random."""
    random = random_values(side.proto())
    made = [name for node in side.nodes if node.op_type != "Constant" for name in node.output if name and name not in random]
    return made + [name for name in side.initializers if name in other.makers and name not in side.makers]


def spread_out(side: Side, names: Sequence[str], inputs: Inputs) -> list[str]:
    """All of `names`, or as many as there is room for, the largest gap between them as small as can be; outputs in any case."""
    known = sizes(side.proto(), inputs)
    bytes_of = {name: known.get(name, _UNKNOWN) for name in names}
    total, outputs = sum(bytes_of.values()), set(side.signature.outputs)
    if total <= ROOM:
        return list(names)
    kept, due = [], 0.0
    for name in names:
        due += bytes_of[name] * ROOM / total
        if name in outputs or due >= bytes_of[name]:
            kept.append(name)
            due -= bytes_of[name]
    return kept


def around(side: Side, values: Sequence[str], cuts: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those of `names` that take part in computing `values` from cut ones."""
    border = set(cuts)
    nodes = [node for value in values for node in side.segment(value, border)]
    close = {name for node in nodes for name in (*reads(node), *node.output)} | set(values)
    return [name for name in names if name in close]
