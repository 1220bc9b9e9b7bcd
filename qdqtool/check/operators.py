"""Our implementations of operators, plugged into ``onnx.reference``.

Its own lack DequantizeLinear below opset 19 and all of com.microsoft, saturate to the wrong end beyond int32, and divide
float16 in float16 at every opset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from qdqtool import dtypes
from qdqtool.check.block_operators import BLOCK_OPERATORS
from qdqtool.check.fake_quantize import FakeQuantize
from qdqtool.check.repairs import REPAIRS
from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import RoundMode, cast
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.quantize import quantize
from qdqtool.kernels.sources import Array

_MICROSOFT = "com.microsoft"
# From this version on the division happens in the type of the scale; before, the text says nothing and ONNX Runtime
# divides in float32.
_SCALE_DECIDES = 23


class QuantizeLinear(OpRun):
    """QuantizeLinear of any version."""

    op_domain = ""

    def _run(self, x: Array, scale: Array, zero_point: Array | None = None, **attributes: Any) -> tuple[Array]:
        axis, block = _granularity(scale, attributes)
        storage = _storage(zero_point, attributes)
        compute = _compute(scale, attributes, self.run_params["opsets"].get("", 0), self.onnx_node.domain)
        saturate = bool(attributes.get("saturate", 1))
        return (quantize(x, scale, zero_point, storage=storage, axis=axis, block=block, compute=compute, saturate=saturate),)


class DequantizeLinear(OpRun):
    """DequantizeLinear of any version."""

    op_domain = ""

    def _run(self, x: Array, scale: Array, zero_point: Array | None = None, **attributes: Any) -> tuple[Array]:
        axis, block = _granularity(scale, attributes)
        expressed = dtypes.of_code(attributes.get("output_dtype") or 0) or dtypes.of_numpy(scale.dtype)
        return (dequantize(x, scale, zero_point, expressed=expressed, axis=axis, block=block),)


class Cast(OpRun):
    """Cast of any version."""

    op_domain = ""

    def _run(self, x: Array, **attributes: Any) -> tuple[Array]:
        to = dtypes.of_code(attributes["to"])
        if to is None or "string" in (to.kind, _kind(x)):
            return (x.astype(np.str_).astype(object) if to is dtypes.STRING else x.astype((to or dtypes.FLOAT).numpy),)
        mode: RoundMode = attributes.get("round_mode") or "up"
        return (cast(np.asarray(x), to, saturate=bool(attributes.get("saturate", 1)), round_mode=mode),)


class DynamicQuantizeLinear(OpRun):
    """DynamicQuantizeLinear, all in float32 as its function body; scale 1 for a tensor of zeros, as ONNX Runtime."""

    op_domain = ""

    def _run(self, x: Array, **_: Any) -> tuple[Array, Array, Array]:
        none, top = np.float32(0), np.float32(255)
        low = np.minimum(none, x.min(initial=0))
        high = np.maximum(none, x.max(initial=0))
        scale = np.float32(1) if low == high else np.float32((high - low) / top)
        zero_point = np.rint(np.clip(-low / scale, none, top)).astype(np.uint8)
        step, zero = np.asarray(scale, np.float32), np.asarray(zero_point)
        return quantize(x, step, zero, storage=dtypes.UINT8, axis=None, block=None, compute=dtypes.FLOAT), step, zero


def _of_microsoft(operator: type[OpRun]) -> type[OpRun]:
    return type(operator.__name__, (operator,), {"op_domain": _MICROSOFT})


OPERATORS: tuple[type[OpRun], ...] = (
    QuantizeLinear,
    DequantizeLinear,
    Cast,
    DynamicQuantizeLinear,
    _of_microsoft(QuantizeLinear),
    _of_microsoft(DequantizeLinear),
    *BLOCK_OPERATORS,
    FakeQuantize,
    *REPAIRS,
)


def _granularity(scale: Array, attributes: dict[str, Any]) -> tuple[int | None, int | None]:
    if scale.size == 1 and scale.ndim <= 1 and not attributes.get("block_size"):
        return None, None
    return attributes.get("axis", 1), attributes.get("block_size") or None


def _storage(zero_point: Array | None, attributes: dict[str, Any]) -> ElementType:
    if zero_point is not None:
        return dtypes.of_numpy(zero_point.dtype)
    return dtypes.of_code(attributes.get("output_dtype") or 0) or dtypes.UINT8


def _compute(scale: Array, attributes: dict[str, Any], version: int, domain: str) -> ElementType:
    stated = dtypes.of_code(attributes.get("precision") or 0)
    own = dtypes.of_numpy(scale.dtype)
    silent = domain == _MICROSOFT or version < _SCALE_DECIDES
    return stated or (dtypes.FLOAT if silent and own in (dtypes.FLOAT16, dtypes.BFLOAT16) else own)


def _kind(x: Array) -> str:
    return "string" if x.dtype.kind in "OUS" else "number"
