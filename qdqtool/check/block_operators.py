"""MatMulNBits and GatherBlockQuantized for ``onnx.reference``, which knows no operator of com.microsoft; by ONNX Runtime's formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from qdqtool.kernels.bits import Unpacked
from qdqtool.kernels.sources import Array, ArraySource, materialize
from qdqtool.packed import UNSIGNED


def unpacked(rows: Array, length: int, bits: int) -> Array:
    """Codes ``[..., length]`` as float32."""
    flat = Unpacked(ArraySource(rows.reshape(-1, rows.shape[-1])), bits, length, UNSIGNED[bits])
    return materialize(flat).astype(np.float32).reshape(*rows.shape[:-1], length)


class MatMulNBits(OpRun):
    """Float zero points and groups are subtracted as products; the weights are float32 whatever the input."""

    op_domain = "com.microsoft"

    def _run(
        self,
        a: Array,
        b: Array,
        scales: Array,
        zeros: Array | None = None,
        groups: Array | None = None,
        bias: Array | None = None,
        **named: Any,
    ) -> tuple[Array]:
        n, k, bits, block = named["N"], named["K"], named.get("bits") or 4, named["block_size"]
        count = -(-k // block)
        codes = unpacked(b.reshape(n, -1), k, bits)
        whole = zeros is None or zeros.dtype == np.uint8
        zero = np.full((n, count), 1 << (bits - 1), np.float32)
        if zeros is not None:
            zero = unpacked(zeros.reshape(n, -1), count, bits) if whole else zeros.reshape(n, count).astype(np.float32)
        place = np.arange(k) // block if groups is None else groups
        scale, zero = scales.reshape(n, count).astype(np.float32)[:, place], zero[:, place]
        weights = (codes - zero) * scale if whole and groups is None else codes * scale - zero * scale
        product = a.astype(np.float32) @ np.ascontiguousarray(weights.T)
        return ((product if bias is None else product + bias.astype(np.float32)).astype(a.dtype),)


class GatherBlockQuantized(OpRun):
    """An index out of range gives zeros."""

    op_domain = "com.microsoft"

    def _run(self, data: Array, indices: Array, scales: Array, zeros: Array | None = None, **named: Any) -> tuple[Array]:
        bits, axis = named.get("bits") or 4, (named.get("gather_axis") or 0) % data.ndim
        along = named.get("quantize_axis", 1) % data.ndim
        codes = unpacked(data, data.shape[-1] * 8 // bits, bits) if data.dtype == np.uint8 else data.astype(np.float32)
        block = named.get("block_size", 128) or codes.shape[along]
        zero: Array = np.asarray(1 << (bits - 1) if data.dtype == np.uint8 else 0, np.float32)
        if zeros is not None:
            zero = unpacked(zeros, scales.shape[-1], bits) if data.dtype == np.uint8 else zeros.astype(np.float32)
        place = np.arange(codes.shape[along]) // block
        spread = [p if p.ndim == 0 else p.take(place, axis=along) for p in (zero, scales.astype(np.float32))]
        table = ((codes - spread[0]) * spread[1]).astype(scales.dtype)
        inside = (indices >= -codes.shape[axis]) & (indices < codes.shape[axis])
        rows = np.take(table, np.where(inside, indices, 0), axis=axis)
        kept = inside.reshape(*(1,) * axis, *indices.shape, *(1,) * (codes.ndim - axis - 1))
        return (np.where(kept, rows, np.zeros((), rows.dtype)),)


BLOCK_OPERATORS: tuple[type[OpRun], ...] = (MatMulNBits, GatherBlockQuantized)
