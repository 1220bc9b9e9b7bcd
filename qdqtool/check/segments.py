"""Where to cut models that are too large for one session.

ONNX Runtime maps every constant of a session and gives nothing back before its end. Both models are cut after the same
values: what a cut does to float16, which ONNX Runtime else keeps wide between nodes, it then does to both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from onnx import ModelProto, NodeProto

from qdqtool.model import tensors, walk
from qdqtool.model.structure import order, reads

LIMIT = 1 << 28
"""Bytes of constants that one piece may read."""

Cuts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Profile:
    """Of one model, node by node: where values are produced, bytes of constants read so far, what a cut would carry over."""

    places: Mapping[str, int]
    read: Sequence[int]
    carried: Sequence[int]


def cuts(models: Sequence[ModelProto]) -> Cuts:
    """Values after whose nodes to cut all of the models, so that pieces read about `LIMIT` at most; none for small ones.

    Of the values in the second half of a piece the one is taken where the least has to be carried over.
    """
    if all(sum(map(tensors.nbytes, walk.tensors(model))) <= LIMIT for model in models):
        return ()
    profiles = [_profile(model) for model in models]
    found: list[str] = []
    last, best = [-1] * len(profiles), ""
    for name in profiles[0].places:
        if not all(p.places.get(name, -1) > at for p, at in zip(profiles, last, strict=True)):
            continue
        if best and _read(profiles, last, name) > max(LIMIT, _read(profiles, last, best)):
            found.append(best)
            last, best = [p.places[best] for p in profiles], ""
        if not best or _read(profiles, last, best) <= LIMIT // 2 or _cost(profiles, name) <= _cost(profiles, best):
            best = name
    return tuple(found)


def _read(profiles: Sequence[_Profile], last: Sequence[int], name: str) -> int:
    """Constants read since the last cut, in the model that reads most."""
    return max(p.read[p.places[name]] - (p.read[at] if at >= 0 else 0) for p, at in zip(profiles, last, strict=True))


def _cost(profiles: Sequence[_Profile], name: str) -> int:
    return sum(p.carried[p.places[name]] for p in profiles)


def _profile(model: ModelProto) -> _Profile:
    nodes = [model.graph.node[index] for index in order(model.graph.node)]
    sizes = {tensor.name: tensors.nbytes(tensor) for tensor in model.graph.initializer}
    names = [reads(node) for node in nodes]
    read = [_own(node) + sum(sizes.get(name, 0) for name in read) for node, read in zip(nodes, names, strict=True)]
    places = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    return _Profile(places, list(accumulate(read)), _carried(nodes, names, places, _weights(nodes, names, sizes)))


def _own(node: NodeProto) -> int:
    return sum(tensors.nbytes(tensor) for tensor in walk.node_tensors(node))


def _weights(nodes: Sequence[NodeProto], names: Sequence[set[str]], sizes: Mapping[str, int]) -> dict[str, int]:
    """What is computed from constants alone is about as large as they are."""
    weights = dict(sizes)
    for node, read in zip(nodes, names, strict=True):
        if all(name in weights for name in read):
            weights.update(dict.fromkeys(node.output, _own(node) + sum(weights[name] for name in read)))
    return weights


def _carried(nodes: Sequence[NodeProto], names: Sequence[set[str]], places: Mapping[str, int], weights: Mapping[str, int]) -> list[int]:
    """For a cut after each node: how many values are read across it, those from constants with their bytes."""
    last = {name: place for place, read in enumerate(names) for name in read}
    changes = [0] * len(nodes)
    for name, place in places.items():
        if last.get(name, place) > place:
            changes[place] += 1 + weights.get(name, 0)
            changes[last[name]] -= 1 + weights.get(name, 0)
    return list(accumulate(changes))
