"""Inputs for a whole model that make sense to it: sizes that agree, indices within their tables, masks that let something through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from zlib import crc32

import numpy as np

from qdqtool.check.pools import converted
from qdqtool.check.signature import Input, Signature, Size
from qdqtool.kernels.sources import Array

_BATCH, _PAST, _LENGTH = 2, 3, 5
# Tried in this order until the original runs: every symbol its own size, then one size for all; 1 only as the last resort.
_COMMON = (None, 8, 16, 32, 64, 224, 1)
_NAMED_SIZES = (
    (re.compile(r"batch|^n$|^bs$|^b$", re.I), _BATCH),
    (re.compile(r"total.*(seq|len)|past.*\+", re.I), _PAST + _LENGTH),
    (re.compile(r"past", re.I), _PAST),
    (re.compile(r"seq|len|time|token", re.I), _LENGTH),
)
_FIRST_FREE = 6
# Elements of all inputs above which a common size is not tried: 224 along each of four open dimensions would be 10 GB.
_MOST = 1 << 27


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for: sizes by symbol or ``input:axis``, whole inputs by name, the seed."""

    dims: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[str, Array] = field(default_factory=dict)
    seed: int = 0


class NoInputs(Exception):
    """Inputs cannot be made up; the message says for which and why."""


def generated(signature: Signature, wishes: Wishes) -> Iterator[dict[str, Array]]:
    """Complete inputs, the likeliest sizes first; the same for the same seed.

    Raises
    ------
    NoInputs
        A required input is no tensor, or of an unknown rank, and none was given for it.
    """
    for port in signature.inputs:
        if port.name not in wishes.inputs and (port.dtype is None or port.dims is None):
            kind = "is no tensor" if port.dtype is None else "has no known rank; give one with --inputs"
            raise NoInputs(f"input {port.name} {kind}")
    open_dims = any(not isinstance(size, int) or size < 0 for port in signature.inputs for size in port.dims or ())
    for common in _COMMON if open_dims else (None,):
        sizes = _sizes(signature, wishes, common)
        if common is not None and sum(prod(_shape(port, sizes, wishes)) for port in signature.inputs) > _MOST:
            continue
        yield {port.name: _value(port, sizes, wishes) for port in signature.inputs}


def _sizes(signature: Signature, wishes: Wishes, common: int | None) -> dict[str, int]:
    """One size for each symbol; unnamed dimensions at one position share theirs."""
    sizes: dict[str, int] = {}
    for port in signature.inputs:
        given = wishes.inputs.get(port.name)
        for axis, size in enumerate(port.dims or ()):
            symbol = _symbol(size, axis)
            if symbol and given is not None and axis < given.ndim:
                sizes[symbol] = given.shape[axis]
            elif symbol and symbol not in sizes:
                sizes[symbol] = wishes.dims.get(symbol) or _chosen(symbol, axis, common, len(sizes))
    return sizes


def _symbol(size: Size, axis: int) -> str:
    """Name of an open dimension; "" for a fixed one, 0 included, as ONNX Runtime has it. Files write unknown as -1 too."""
    if isinstance(size, int) and size >= 0:
        return ""
    return size if isinstance(size, str) and size else f"?{axis}"


def _chosen(symbol: str, axis: int, common: int | None, taken: int) -> int:
    named = next((size for pattern, size in _NAMED_SIZES if pattern.search(symbol)), _BATCH if symbol == "?0" else None)
    if common is None:
        return named or _FIRST_FREE + taken
    return _BATCH if axis == 0 and named == _BATCH and common != 1 else common


def _value(port: Input, sizes: Mapping[str, int], wishes: Wishes) -> Array:
    assert port.dtype is not None
    if port.name in wishes.inputs:
        return converted(wishes.inputs[port.name], port.dtype)
    rng = np.random.default_rng([wishes.seed, crc32(port.name.encode())])
    return _filled(port, _shape(port, sizes, wishes), rng)


def _shape(port: Input, sizes: Mapping[str, int], wishes: Wishes) -> tuple[int, ...]:
    """Of an input that is made up."""
    if port.name in wishes.inputs:
        return tuple(map(int, wishes.inputs[port.name].shape))
    dims = port.dims or ()
    chosen = [wishes.dims.get(f"{port.name}:{axis}") or sizes.get(_symbol(size, axis)) for axis, size in enumerate(dims)]
    return tuple(size or (fixed if isinstance(fixed, int) and fixed >= 0 else 1) for size, fixed in zip(chosen, dims, strict=True))


def _filled(port: Input, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    dtype = port.dtype
    assert dtype is not None
    if dtype.kind == "string":
        return rng.choice(np.array(["a", "quantized", "model"], object), shape)
    if port.zero:
        return np.zeros(shape, dtype.numpy)
    if _is_mask(port):
        return np.ones(shape).astype(dtype.numpy)
    if dtype.kind == "bool":
        return _with_one(rng.integers(0, 2, shape)).astype(dtype.numpy)
    if dtype.integer:
        return _integers(port, shape, rng).astype(dtype.numpy)
    if dtype.kind == "complex":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype.numpy)
    values = rng.standard_normal(shape) if dtype.bits == 64 else rng.standard_normal(shape, np.float32)
    return np.asarray(np.abs(values) if dtype.low >= 0 else values).astype(dtype.numpy, copy=False)


def _integers(port: Input, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Indices within their table, positions in order, sample rates, codes over their whole range; else small counts."""
    dtype = port.dtype
    assert dtype is not None
    if re.search(r"position_ids|cache_position", port.name) and shape:
        return np.broadcast_to(np.arange(shape[-1]) % (port.limit or shape[-1]), shape)
    if re.fullmatch(r"sr|sample_rate", port.name):
        return np.full(shape, 16000)
    if port.limit is not None:
        return rng.integers(0, max(port.limit, 1), shape)
    if re.search(r"(_ids?|ids|indices|index|labels?)$", port.name):
        return rng.integers(0, 2, shape)
    if dtype.bits <= 16:
        return rng.integers(int(dtype.low), int(dtype.high), shape, endpoint=True)
    return rng.integers(1, 4, shape)


def _is_mask(port: Input) -> bool:
    """Attention masks let everything through: a row that lets nothing through is NaN in both models."""
    return bool(re.search(r"mask", port.name, re.I)) and port.dtype is not None


def _with_one(bits: Array) -> Array:
    bits = np.array(bits)
    if bits.ndim:
        bits[..., :1] = 1
    return bits
