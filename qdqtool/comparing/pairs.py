"""Which value of one model is which of the other: those with the same content on the same inputs, then by name, then by structure."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qdqtool.comparing.sides import Side
from qdqtool.kernels.sources import Array

_TELLING = 4
_WRONG_NAMES, _WRONG_SHARE = 3, 0.2

Pairs = dict[str, str]
"""Values of the first model, in its order, with those of the second."""


@dataclass(frozen=True, slots=True)
class Known:
    """What both models computed for the same inputs, as far as it was asked for; `fixed` are pairs of inputs and outputs."""

    old: Mapping[str, Array]
    new: Mapping[str, Array]
    fixed: Mapping[str, str]


def pairs(a: Side, b: Side, known: Known) -> Pairs:
    """Pairs of values of one type and shape; no value stands in two."""
    content = _by_content(known)
    named = {name: name for name in known.old if name in known.new and _alike(known.old[name], known.new[name])}
    wrong = [name for name in named if content.get(name, name) != name and not _same(known.old[name], known.new[name])]
    trusted = len(wrong) < _WRONG_NAMES or len(wrong) < _WRONG_SHARE * len(named)
    found = {x: y for x, y in known.fixed.items() if x in known.old and y in known.new and _alike(known.old[x], known.new[y])}
    _add(found, {name: name for name in named if trusted and name not in wrong and _same(known.old[name], known.new[name])})
    _add(found, content)
    if trusted:
        _add(found, {name: name for name in named if name not in wrong})
    _add(found, _by_structure(a, b, found, known))
    return {name: found[name] for name in known.old if name in found}


def _add(found: Pairs, more: Mapping[str, str]) -> None:
    taken = set(found.values())
    for old, new in more.items():
        if old not in found and new not in taken:
            found[old] = new
            taken.add(new)


def _alike(old: Array, new: Array) -> bool:
    return old.dtype == new.dtype and old.shape == new.shape


def _same(old: Array, new: Array) -> bool:
    return _key(old) == _key(new)


def _key(values: Array) -> bytes:
    """Type, shape and bits; the sign of zero does not count."""
    plain = values + np.zeros((), values.dtype) if values.dtype.kind in "fc" else values
    head = f"{values.dtype}{values.shape}".encode()
    return hashlib.blake2b(head + np.ascontiguousarray(plain).tobytes(), digest_size=16).digest()


def _by_content(known: Known) -> Pairs:
    """The k-th of the values of one content with the k-th; contents that say little are left out."""
    groups: tuple[dict[bytes, list[str]], ...] = (defaultdict(list), defaultdict(list))
    for values, group in zip((known.old, known.new), groups, strict=True):
        for name, array in values.items():
            if array.dtype != object and array.size >= _TELLING and np.any(array != array.flat[0]):
                group[_key(array)].append(name)
    old, new = groups
    return {x: y for key, names in old.items() if len(names) == len(new[key]) for x, y in zip(names, new[key], strict=True)}


def _by_structure(a: Side, b: Side, found: Pairs, known: Known) -> Pairs:
    """Results of nodes with the same operator on operands that are already paired, as far as that leads."""
    pairs, more = dict(found), Pairs()
    while True:
        fresh = Pairs()
        old = _open(a, {name: name for name in pairs}, pairs.keys() | more.keys())
        new = _open(b, {y: x for x, y in pairs.items()}, set(pairs.values()) | set(more.values()))
        for key, nodes in old.items():
            others = new.get(key, [])
            if len(nodes) == len(others):
                fresh |= {x: y for p, q in zip(nodes, others, strict=True) for x, y in _outputs(a, b, p, q, known)}
        fresh = {x: y for x, y in fresh.items() if x not in pairs}
        if not fresh:
            return more
        pairs |= fresh
        more |= fresh


def _open(side: Side, ours: Mapping[str, str], done: set[str]) -> dict[tuple[object, ...], list[int]]:
    """Nodes whose results are not yet paired, by operator and paired operands; constants count by their shape."""
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, node in enumerate(side.nodes):
        if node.output and not all(name in done for name in node.output if name):
            operands = tuple(ours.get(name) or _shape(side, name) for name in node.input)
            if None not in operands:
                groups[node.op_type, operands].append(index)
    return groups


def _shape(side: Side, name: str) -> tuple[int, ...] | None:
    """Of a constant; () for an absent operand, None for what is computed and not paired."""
    if not name:
        return ()
    if name in side.initializers:
        return tuple(side.initializers[name].dims)
    constant = side.constant(name)
    return None if constant is None else constant.shape


def _outputs(a: Side, b: Side, old: int, new: int, known: Known) -> Sequence[tuple[str, str]]:
    outputs = zip(a.nodes[old].output, b.nodes[new].output, strict=False)
    return [(x, y) for x, y in outputs if x in known.old and y in known.new and _alike(known.old[x], known.new[y])]
