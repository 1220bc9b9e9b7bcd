"""Operators that ``onnx.reference`` 1.23 computes wrongly at some opset, or by the layout of an operand, put right."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_grid_sample, op_loop, op_one_hot, op_resize

from qdqtool.kernels.sources import Array

# Untyped, as the reference is.
_Loop: Any = op_loop.Loop
_OneHot: Any = op_one_hot.OneHot
_Resize: Any = op_resize.Resize
_GridSample: Any = op_grid_sample.GridSample

_LAST_AXIS = 13
_OLD_MODES = {"bilinear": "linear", "bicubic": "cubic"}


class BatchNormalization(OpRun):
    """In inference; the reference's version 9 computes training."""

    op_domain = ""

    def _run(self, x: Array, scale: Array, bias: Array, mean: Array, var: Array, **attributes: Any) -> tuple[Array]:
        if attributes.get("training_mode") or len(self.onnx_node.output) > 1:
            raise NotImplementedError("BatchNormalization in training")
        factor, shift, centre, spread = (p.reshape(-1, *(1,) * (x.ndim - 2)) for p in (scale, bias, mean, var))
        epsilon = np.asarray(attributes.get("epsilon", 1e-5), x.dtype)
        return (((x - centre) / np.sqrt(spread + epsilon) * factor + shift).astype(x.dtype),)


class MatMul(OpRun):
    """Of operands laid out row by row: numpy adds up in another order when an operand is a transposed view."""

    op_domain = ""

    def _run(self, a: Array, b: Array, **_: Any) -> tuple[Array]:
        return (np.asarray(np.matmul(np.ascontiguousarray(a), np.ascontiguousarray(b))),)


class Gemm(OpRun):
    """As MatMul, for the same reason."""

    op_domain = ""

    def _run(self, a: Array, b: Array, c: Array | None = None, **attributes: Any) -> tuple[Array]:
        left = np.ascontiguousarray(a.T if attributes.get("transA") else a)
        right = np.ascontiguousarray(b.T if attributes.get("transB") else b)
        alpha, beta = (np.asarray(attributes.get(name, 1.0), a.dtype) for name in ("alpha", "beta"))
        product = left @ right * alpha
        return ((product if c is None else product + c * beta).astype(a.dtype),)


class Softmax(OpRun):
    """Below opset 13 over all axes from the one stated, by default 1, of which the reference knows nothing."""

    op_domain = ""

    def _run(self, x: Array, **_: Any) -> tuple[Array]:
        old = self.run_params["opsets"].get("", _LAST_AXIS) < _LAST_AXIS
        axis = _axis(self.onnx_node, 1 if old else -1) % max(x.ndim, 1)
        rows = x.reshape(int(np.prod(x.shape[:axis])), -1) if old else np.moveaxis(x, axis, -1)
        result = self.of_rows(rows).astype(x.dtype) if x.size else rows
        return (result.reshape(x.shape) if old else np.moveaxis(result, -1, axis),)

    def of_rows(self, x: Array) -> Array:
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


class LogSoftmax(Softmax):
    """As Softmax."""

    def of_rows(self, x: Array) -> Array:
        shifted = x - x.max(axis=-1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


class Hardmax(Softmax):
    """As Softmax."""

    def of_rows(self, x: Array) -> Array:
        return np.asarray(np.arange(x.shape[-1]) == np.argmax(x, axis=-1)[..., None])


class Loop(_Loop):  # type: ignore[misc]
    """Scan outputs get an axis of their own, and no condition is a true one; the reference concatenates, or runs nothing."""

    op_domain = ""
    _run_body: Any

    def _run(self, *inputs: Any, **named: Any) -> tuple[Any, ...]:
        body, shapes = self._run_body, list[list[tuple[int, ...]]]()
        count, condition, *carried = inputs

        def watched(*given: Any, **more: Any) -> Any:
            outputs = body(*given, **more)
            shapes.append([np.shape(output) for output in outputs[self.N + 1 :]])
            return outputs

        self._run_body = watched
        try:
            results = super()._run(count, np.array(True) if condition is None else condition, *carried, **named)
        finally:
            self._run_body = body
        scanned = zip(results[self.N :], shapes[-1], strict=True) if shapes else ()
        return (*results[: self.N], *(np.reshape(value, (len(shapes), *shape)) for value, shape in scanned))


class OneHot(_OneHot):  # type: ignore[misc]
    """With a depth of shape [1] too."""

    op_domain = ""

    def _run(self, indices: Array, depth: Array, values: Array, axis: int = -1) -> tuple[Array]:
        (result,) = super()._run(indices, np.asarray(depth).reshape(-1)[0], values, axis=axis)
        return (result.astype(values.dtype),)


class GatherElements(OpRun):
    """With fewer indices than data along the other axes too."""

    op_domain = ""

    def _run(self, data: Array, indices: Array, **_: Any) -> tuple[Array]:
        axis = _axis(self.onnx_node, 0) % data.ndim
        window = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))
        return (np.take_along_axis(data[window], indices.astype(np.int64), axis),)


class Resize(_Resize):  # type: ignore[misc]
    """Version 10, of which the reference knows nothing, as ONNX Runtime reads it."""

    op_domain = ""

    def _run(self, x: Array, *operands: Any, mode: str = "nearest", **attributes: Any) -> tuple[Array]:
        if self.run_params["opsets"].get("", 0) != 10:
            results: tuple[Array] = super()._run(x, *(operands or (None,)), mode=mode, **attributes)
        elif mode == "nearest":
            results = (_nearest(x, operands[0]),)
        else:
            results = super()._run(x, None, *operands, mode=mode, **{**attributes, "coordinate_transformation_mode": "asymmetric"})
        return results


class GridSample(_GridSample):  # type: ignore[misc]
    """With the names that modes had before opset 20 too."""

    op_domain = ""

    def _run(self, x: Array, grid: Array, mode: str = "linear", **attributes: Any) -> tuple[Array]:
        results: tuple[Array] = super()._run(x, grid, mode=_OLD_MODES.get(mode, mode), **attributes)
        return results


def _axis(node: NodeProto, default: int) -> int:
    return next((a.i for a in node.attribute if a.name == "axis"), default)


def _nearest(x: Array, scales: Array) -> Array:
    """Down to the sample before, or, where the scale makes smaller, up to the one behind."""
    for axis, scale in enumerate(scales.astype(np.float32)):
        places = np.arange(int(np.float32(x.shape[axis]) * scale), dtype=np.float32) / scale
        whole = np.ceil(places) if scale < 1 else np.floor(places)
        x = np.take(x, np.clip(whole.astype(np.int64), 0, x.shape[axis] - 1), axis)
    return x


REPAIRS: tuple[type[OpRun], ...] = (
    BatchNormalization, MatMul, Gemm, Softmax, LogSoftmax, Hardmax, Loop, OneHot, GatherElements, Resize, GridSample,
)  # fmt: skip
