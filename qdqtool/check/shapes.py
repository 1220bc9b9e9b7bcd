"""Concrete shapes for a fragment's inputs: what is unknown is tried with the sizes its constants suggest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from qdqtool.check.probe import Fragment, Port

Shapes = dict[str, tuple[int, ...]]

_DEFAULT = 8
_ATTEMPTS = 64
_RANKS = (2, 3, 4, 1, 0)


def candidates(fragment: Fragment) -> Iterator[Shapes]:
    """Shapes for all inputs, the likeliest first; at most a few dozen.

    An unknown dimension is first 8; then every length a constant has, alone and times each block size.
    """
    sizes = _sizes(fragment)
    unknown = [port for port in fragment.inputs if port.shape is None]
    for rank in _RANKS if unknown else (0,):
        yield from islice(_fillings(fragment.inputs, rank, sizes), _ATTEMPTS)


def _fillings(ports: tuple[Port, ...], rank: int, sizes: list[int]) -> Iterator[Shapes]:
    shapes = [(None,) * rank if port.shape is None else port.shape for port in ports]
    holes = sum(size is None for shape in shapes for size in shape)
    for filling in product(sizes, repeat=holes):
        rest = iter(filling)
        filled = [tuple(next(rest) if size is None else size for size in shape) for shape in shapes]
        yield {port.name: shape for port, shape in zip(ports, filled, strict=True)}


def _sizes(fragment: Fragment) -> list[int]:
    """Lengths worth trying; one-element constants say nothing."""
    lengths = [size for source in fragment.constants.values() for size in source.shape if size > 1]
    known = [size for port in fragment.inputs for size in port.shape or () if size is not None and size > 1]
    blocks = [a.i for node in fragment.nodes for a in node.attribute if a.name == "block_size" and a.i > 1]
    multiples = [size * block for size in (*lengths, *known) for block in blocks]
    return list(dict.fromkeys([_DEFAULT, *lengths, *multiples, *known, *blocks]))
