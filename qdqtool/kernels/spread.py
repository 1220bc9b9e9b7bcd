"""A scale or zero point applied to a flat range: one value, one for each row, or a row of values for each row.

Rows are the runs of elements within the innermost group of a grid; which value or row of values belongs to a row follows
from the outer groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from qdqtool.kernels.grid import Grid, Group, flat_index
from qdqtool.kernels.parameter import Parameter
from qdqtool.kernels.rows import WIDE, Operation, broadcast, by_rows, cycle
from qdqtool.kernels.sources import Array

PERIOD = 1 << 16
"""Longest pattern along the outermost group that is laid out in full, so that rows are long."""

LONG = 4096
"""Elements that are worth a call of their own."""


@dataclass(slots=True)
class Spread:
    """A parameter over data on `grid`.

    `apply(operation, start, values)` makes ``operation(values, parameter)`` of the elements from `start` on, in place.
    """

    parameter: Parameter
    grid: Grid
    apply: Callable[[Operation, int, Array], None] = field(init=False)
    _outer: tuple[Group, ...] = field(init=False)
    _in_order: bool = field(init=False)
    _raised: Spread | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._outer = self.grid.groups[:-1]
        self._in_order = all(block == 1 for _, block in self._outer)
        self.apply = self._layout()

    def _layout(self) -> Callable[[Operation, int, Array], None]:
        if self.grid.scales == 1:
            return self._alike
        if self._periodic():
            return self._cyclic
        length, block = self.grid.groups[-1]
        if block == length:
            return self._by_rows
        return self._by_columns if block == 1 else self._ragged

    @property
    def lays_out(self) -> bool:
        """Whether a value for each element is laid out, so that fewer, larger tiles are better."""
        return self.apply == self._by_rows and self.grid.groups[-1][0] < WIDE

    def elements(self, start: int, stop: int) -> Array:
        """The parameter of each element, in its own type."""
        which = self.grid.index(start, stop)
        low, high = int(which.min()), int(which.max()) + 1
        found: Array = self.parameter.source.read(low, high)[which - low]
        return found

    def raised(self, power: float) -> Spread | None:
        """The parameter times a power of two; None where `Parameter.raised` is."""
        raised, spread = self.parameter.raised(power), self._raised
        if raised is not None and (spread is None or spread.parameter is not raised):
            spread = self._raised = Spread(raised, self.grid)
        return None if raised is None else spread

    def _rows(self, first: int, last: int, width: int = 1) -> Array:
        """The `width` values of each row of a range of rows, flat."""
        if self._in_order:
            return self.parameter.get(first * width, last * width)
        which = flat_index(self._outer, np.arange(first, last))
        low, high = int(which.min()), int(which.max()) + 1
        found: Array = self.parameter.get(low * width, high * width).reshape(-1, width)[which - low]
        return found.reshape(-1)

    def _row(self, row: int) -> int:
        """Which row of values a row of elements has."""
        found, stride = 0, 1
        for length, block in reversed(self._outer):
            row, along = divmod(row, length)
            found += along // block * stride
            stride *= -(-length // block)
        return found

    def _alike(self, operation: Operation, start: int, values: Array) -> None:
        operation(values, self.parameter.get(0, 1)[0], out=values)

    def _periodic(self) -> bool:
        """Whether the same pattern comes again and again, and is short enough to be laid out."""
        (length, block), *inner = self.grid.groups
        return length == block and 0 < prod(n for n, _ in inner) <= PERIOD and (inner[-1][1] != inner[-1][0] or inner[-1][0] < LONG)

    def _cyclic(self, operation: Operation, start: int, values: Array) -> None:
        pattern = self.parameter.laid_out(self._pattern)
        cycle(operation, pattern, start % pattern.size, values)

    def _pattern(self) -> Array:
        """The whole parameter as it comes again and again, at least a few rows long."""
        inner = Grid(self.grid.groups[1:])
        period = prod(n for n, _ in inner.groups)
        return np.tile(self.parameter.get(0, self.parameter.count)[inner.index(0, period)], max(1, LONG * 4 // period))

    def _by_rows(self, operation: Operation, start: int, values: Array) -> None:
        length = self.grid.groups[-1][0]
        rows = self._rows(start // length, -(-(start + values.size) // length))
        by_rows(operation, rows, length, start % length, values)

    def _by_columns(self, operation: Operation, start: int, values: Array) -> None:
        length, done = self.grid.groups[-1][0], 0
        while done < values.size:
            row, column = divmod(start + done, length)
            rows = 0 if column else (values.size - done) // length
            count = rows * length or min(length - column, values.size - done)
            piece = values[done : done + count]
            if rows:
                self._whole_rows(operation, row, piece.reshape(rows, length))
            else:
                at = self._row(row) * length + column
                operation(piece, self.parameter.get(at, at + count), out=piece)
            done += count

    def _whole_rows(self, operation: Operation, first: int, matrix: Array) -> None:
        rows, length = matrix.shape
        around, block = self._outer[-1] if self._outer else (1, 1)
        if block * length < LONG:
            operation(matrix, self._rows(first, first + rows, length).reshape(rows, length), out=matrix)
            return
        done = 0
        while done < rows:
            along, at = (first + done) % around, self._row(first + done) * length
            count = min(block - along % block, around - along, rows - done)
            broadcast(operation, matrix[done : done + count], self.parameter.get(at, at + length))
            done += count

    def _ragged(self, operation: Operation, start: int, values: Array) -> None:
        length, block = self.grid.groups[-1]
        blocks = -(-length // block)
        if length < LONG:
            first, last = start // length, -(-(start + values.size) // length)
            counts = np.full((last - first, blocks), block)
            counts[:, -1] = length - (blocks - 1) * block
            laid = np.repeat(self._rows(first, last, blocks), counts.reshape(-1))
            operation(values, laid[start - first * length :][: values.size], out=values)
            return
        done = 0
        while done < values.size:
            row, column = divmod(start + done, length)
            count, at = min(length - column, values.size - done), self._row(row) * blocks
            scales = self.parameter.get(at + column // block, at + -(-(column + count) // block))
            by_rows(operation, scales, block, column % block, values[done : done + count])
            done += count
