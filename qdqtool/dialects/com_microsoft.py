"""QuantizeLinear and DequantizeLinear of ONNX Runtime's own domain.

Source: the operator registry and kernels of ONNX Runtime 1.32: under any ai.onnx opset, float32 and float16,
divided in float32; without the axis attribute a vector of scales runs along axis 1, against the schema's text.
"""

from __future__ import annotations

from qdqtool import dtypes as t
from qdqtool.capabilities import Row

NAME = "com.microsoft"
DOMAIN = "com.microsoft"

_CODES = frozenset({t.INT8, t.UINT8, t.INT16, t.UINT16, t.INT4, t.UINT4})
_HALF = frozenset({t.FLOAT, t.FLOAT16})

ROWS: tuple[Row, ...] = (
    Row(NAME, "quantize", 1, _CODES, _HALF, _HALF, True),
    Row(NAME, "dequantize", 1, _CODES | {t.INT32}, _HALF, _HALF, True),
)
