"""Concrete shapes for a fragment's inputs: what is unknown is tried with the sizes its constants suggest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from math import prod

from qdqtool.check.probe import Fragment, Port

Shapes = dict[str, tuple[int, ...]]

# For lengths that nothing calls for: the first that keeps the inputs within so many elements.
_LENGTHS = (64, 32, 16, 8)
_ENOUGH = 1 << 13
_ATTEMPTS = 64
_MOST = 1 << 24
_RANKS = (2, 3, 4, 1, 0)


def candidates(fragment: Fragment) -> Iterator[Shapes]:
    """Shapes for all inputs, the likeliest first; at most a few dozen.

    An unknown dimension has first a usual length; then every length a constant has, alone and times each block size.
    Large inputs are tried smaller first, cut wherever no constant calls for their length.
    """
    if shapes := _smaller(fragment):
        yield shapes
    sizes = _sizes(fragment)
    unknown = [port for port in fragment.inputs if port.shape is None]
    for rank in _RANKS if unknown else (0,):
        yield from islice(_fillings(fragment.inputs, rank, sizes), _ATTEMPTS)


def declared(fragment: Fragment, shapes: Shapes) -> bool:
    """Whether these are the shapes that the fragment states, as far as it does."""
    stated = [(port.shape, shapes[port.name]) for port in fragment.inputs if port.shape is not None]
    return all(len(known) == len(tried) and all(a in (None, b) for a, b in zip(known, tried, strict=True)) for known, tried in stated)


def _smaller(fragment: Fragment) -> Shapes | None:
    if any(port.shape is None for port in fragment.inputs) or _total(fragment, 1 << 62) <= _ENOUGH:
        return None
    return _cut(fragment, _usual(fragment))


def _usual(fragment: Fragment) -> int:
    return next((length for length in _LENGTHS if _total(fragment, length) <= _ENOUGH), _LENGTHS[-1])


def _total(fragment: Fragment, length: int) -> int:
    return sum(prod(shape) for shape in _cut(fragment, length).values())


def _cut(fragment: Fragment, length: int) -> Shapes:
    """Shapes with that length for what is unknown, and at most that for what no constant calls for."""
    called = set(_of_constants(fragment))
    shapes: dict[str, tuple[int | None, ...]] = {p.name: (None, None) if p.shape is None else p.shape for p in fragment.inputs}
    usual, kept = min(length, _LENGTHS[0]), {p.name: p.default.shape for p in fragment.inputs if p.default is not None}
    made = {name: tuple(usual if n is None else n if n in called else min(n, length) for n in shape) for name, shape in shapes.items()}
    return made | kept


def _fillings(ports: tuple[Port, ...], rank: int, sizes: list[int]) -> Iterator[Shapes]:
    shapes = [(None,) * rank if port.shape is None else port.shape for port in ports]
    holes = sum(size is None for shape in shapes for size in shape)
    for filling in product(sizes, repeat=holes):
        rest = iter(filling)
        filled = [tuple(next(rest) if size is None else size for size in shape) for shape in shapes]
        if sum(map(prod, filled)) <= _MOST or not holes:
            yield {port.name: shape for port, shape in zip(ports, filled, strict=True)}


def _sizes(fragment: Fragment) -> list[int]:
    """Lengths worth trying; one-element constants say nothing."""
    known = [size for port in fragment.inputs for size in port.shape or () if size is not None and size > 1]
    multiples = [size * block for size in known for block in _blocks(fragment)]
    return list(dict.fromkeys([_usual(fragment), *_of_constants(fragment), *multiples, *known, *_blocks(fragment)]))


def _of_constants(fragment: Fragment) -> list[int]:
    """Lengths of its constants, alone and times each block size."""
    lengths = [size for source in fragment.constants.values() for size in source.shape if size > 1]
    return lengths + [size * block for size in lengths for block in _blocks(fragment)]


def _blocks(fragment: Fragment) -> list[int]:
    return [a.i for node in fragment.nodes for a in node.attribute if a.name == "block_size" and a.i > 1]
