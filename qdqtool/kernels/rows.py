"""An operation in place on rows: with one value for each row, with one row for all, or with a row that begins again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qdqtool.kernels.sources import Array

WIDE = 512
"""Rows shorter than this are faster with a value laid out for each element."""

Operation = Callable[..., Any]
"""A ufunc of two operands."""


def broadcast(operation: Operation, matrix: Array, parameter: Array) -> None:
    """In place, with one value or one row for each row.

    numpy lays the values out in a buffer unless that is shorter than a row; for long rows this costs more than the operation.
    """
    before = np.setbufsize(16)
    operation(matrix, parameter, out=matrix)
    np.setbufsize(before)


def by_rows(operation: Operation, rows: Array, length: int, skip: int, values: Array) -> None:
    """One value for each `length` elements, of the first row only what follows the first `skip`."""
    if rows.size == 1:
        operation(values, rows[0], out=values)
    elif length < WIDE:
        operation(values, np.repeat(rows, length)[skip : skip + values.size], out=values)
    elif skip == 0 and values.size == rows.size * length:
        broadcast(operation, values.reshape(-1, length), rows[:, None])
    else:
        _by_cut_rows(operation, rows, length, skip, values)


def _by_cut_rows(operation: Operation, rows: Array, length: int, skip: int, values: Array) -> None:
    head = (length - skip) % length
    first, whole = bool(head), (values.size - head) // length
    if head:
        operation(values[:head], rows[0], out=values[:head])
    end = head + whole * length
    broadcast(operation, values[head:end].reshape(whole, length), rows[first : first + whole, None])
    if end < values.size:
        operation(values[end:], rows[-1], out=values[end:])


def cycle(operation: Operation, row: Array, skip: int, values: Array) -> None:
    """The values of `row` again and again, from the place `skip` on."""
    head = min((row.size - skip) % row.size, values.size)
    if head:
        operation(values[:head], row[skip : skip + head], out=values[:head])
    whole = (values.size - head) // row.size
    end = head + whole * row.size
    broadcast(operation, values[head:end].reshape(whole, row.size), row)
    if end < values.size:
        operation(values[end:], row[: values.size - end], out=values[end:])
