"""How one constant became another, in words: scaled, shifted, transposed, blocks swapped, rounded otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool import dtypes
from qdqtool.check.numbers import wide
from qdqtool.kernels.sources import Array

_BLOCKS = (2, 4, 8, 16, 32, 64, 128, 256)


def pattern(old: Array, new: Array) -> str:
    """What is different about `new`, or empty when it says the same."""
    if old.shape != new.shape:
        return _reshaped(old, new)
    if {old.dtype.kind, new.dtype.kind} & set("OUSc"):
        return "" if np.array_equal(old, new) else "different"
    before, after = wide(old), wide(new)
    differs = (before != after) & ~(np.isnan(before) & np.isnan(after))
    if not differs.any():
        return "" if old.dtype == new.dtype else f"type {_type(old)} became {_type(new)}"
    for attempt in (_moved, _shifted if dtypes.of_numpy(old.dtype).integer else _scaled):
        if words := attempt(before, after, differs):
            return words + ("" if old.dtype == new.dtype else f", type {_type(old)} became {_type(new)}")
    return _plain(old, new, differs)


def _type(values: Array) -> str:
    return dtypes.of_numpy(values.dtype).name


def _reshaped(old: Array, new: Array) -> str:
    shapes = f"shape {list(old.shape)} became {list(new.shape)}"
    if old.ndim == new.ndim == 2 and old.T.shape == new.shape and np.array_equal(old.T, new):
        return f"transposed: {shapes}"
    if old.size == new.size == 1:
        return pattern(old.reshape(()), new.reshape(()))
    return shapes


def _moved(old: Array, new: Array, differs: Array) -> str:
    """The same numbers at other places."""
    if old.size < 2 or not np.array_equal(np.sort(old, axis=None), np.sort(new, axis=None)):
        return ""
    if old.ndim == 2 and old.shape[0] == old.shape[1] and np.array_equal(old.T, new):
        return "transposed"
    found = [words for words in _orders(old, new) if words]
    swapped = [words for words in found if words.endswith("swapped")]
    return next(iter([*swapped, *found]), f"{_share(differs)} moved: the same numbers in another order")


def _orders(old: Array, new: Array) -> Iterator[str]:
    """Slices, blocks of slices, and slices within every block, along each axis."""
    for axis, length in enumerate(old.shape):
        x, y = (np.moveaxis(values, axis, 0) for values in (old, new))
        yield _permuted(x, y, f"along axis {axis}")
        for block in (size for size in _BLOCKS if length % size == 0 and length > size):
            p, q = (values.reshape(length // block, block, -1) for values in (x, y))
            yield _permuted(p, q, f"along axis {axis} (blocks of {block})", "blocks")
            yield _permuted(p.swapaxes(0, 1), q.swapaxes(0, 1), f"in every block of {block} along axis {axis}")


def _permuted(old: Array, new: Array, where: str, what: str = "indices") -> str:
    """Slices along the first axis in another order."""
    rows = [slice_.tobytes() for slice_ in np.ascontiguousarray(old)], [slice_.tobytes() for slice_ in np.ascontiguousarray(new)]
    if sorted(rows[0]) != sorted(rows[1]):
        return ""
    places = [index for index, (x, y) in enumerate(zip(*rows, strict=True)) if x != y]
    if len(places) == 2:
        return f"{what} {places[0]} and {places[1]} {where} are swapped"
    return f"{len(places) if len(places) < len(rows[0]) else 'all'} {what} {where} are in another order"


def _scaled(old: Array, new: Array, differs: Array) -> str:
    """One factor, for all or some."""
    x, y = old[differs], new[differs]
    with np.errstate(all="ignore"):
        ratio = y / x
        if np.all(np.isfinite(ratio)) and np.allclose(ratio, ratio.flat[0], rtol=1e-5) and (x.size > 1 or old.size == 1):
            return f"{_share(differs)} {ratio.flat[0]:.4g} x as large{_became(old, new, differs)}"
        if old.size > 1 and np.all(np.isfinite(y)) and np.allclose(x * y, 1, rtol=1e-5):
            return f"{_share(differs)} reciprocal{_became(old, new, differs)}"
    return ""


def _shifted(old: Array, new: Array, differs: Array) -> str:
    """Whole numbers that are off by one amount, or by one step."""
    gap = (new - old)[differs]
    if gap.size < old.size and np.all(np.abs(gap) == 1):
        return f"{_share(differs)} one step off, as by another rounding{_became(old, new, differs)}"
    if np.all(gap == gap.flat[0]) and (gap.size > 1 or old.size == 1):
        return f"{_share(differs)} shifted by {gap.flat[0]:+.0f}{_became(old, new, differs)}"
    return ""


def _share(differs: Array) -> str:
    count = int(differs.sum())
    if differs.size == 1:
        return "it is"
    return f"all {count:,} are" if count == differs.size else f"{count:,} of {differs.size:,} {'is' if count == 1 else 'are'}"


def _became(old: Array, new: Array, differs: Array) -> str:
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    where = f" at {list(place)}" if old.size > 1 else ""
    return f" ({old[place]:.6g} became {new[place]:.6g}{where})"


def _plain(old: Array, new: Array, differs: Array) -> str:
    before, after = wide(old), wide(new)
    if not np.isfinite(after[differs]).all():
        return f"{_share(differs)} different, some of them not finite{_became(before, after, differs & ~np.isfinite(after))}"
    with np.errstate(all="ignore"):
        gap = float(np.nanmax(np.abs(after - before)))
    return f"{_share(differs)} different, by up to {gap:.4g}{_became(before, after, differs)}"
