"""QuantizeLinear and DequantizeLinear of the default domain.

Sources: ``onnx.defs`` of onnx 1.23 (a test compares every row with it), and for what the texts leave open ONNX Runtime 1.32: below
version 23 it divides in float32 whatever the types.
"""

from __future__ import annotations

from qdqtool import dtypes as t
from qdqtool.capabilities import Division, Row, Types

NAME = "ai.onnx"
DOMAIN = ""

_I8 = frozenset({t.INT8, t.UINT8})
_I16 = frozenset({t.INT16, t.UINT16})
_I4 = frozenset({t.INT4, t.UINT4})
_I2 = frozenset({t.INT2, t.UINT2})
_I32 = frozenset({t.INT32})
_F8 = frozenset(t.FLOAT8)
_F4 = frozenset({t.FLOAT4E2M1})
_F6 = frozenset({t.FLOAT6E2M3, t.FLOAT6E3M2})
_E8 = frozenset({t.FLOAT8E8M0})
_F32 = frozenset({t.FLOAT})
_FLOATS = frozenset({t.FLOAT, t.FLOAT16, t.BFLOAT16})

_19 = _I8 | _F8
_21 = _19 | _I16 | _I4
_23 = _21 | _F4
_25 = _23 | _I2
_28 = _25 | _F6


def _quantize(
    version: int, storage: Types, scale: Types, *, linked: bool = False, division: Division = "scale", blocks: bool = True
) -> Row:
    return Row("ai.onnx", "quantize", version, storage, _FLOATS | _I32, scale, linked, division,
               blocks=blocks, saturate=True, output_dtype=blocks, precision=not linked)  # fmt: skip


def _dequantize(version: int, storage: Types, scale: Types, *, linked: bool = False, blocks: bool = True) -> Row:
    return Row("ai.onnx", "dequantize", version, storage | _I32, _FLOATS, scale, linked, blocks=blocks, output_dtype=not linked)


ROWS: tuple[Row, ...] = (
    Row("ai.onnx", "quantize", 10, _I8, _F32 | _I32, _F32, False, vector=False, axis=False),
    Row("ai.onnx", "quantize", 13, _I8, _F32 | _I32, _F32, False),
    _quantize(19, _19, _FLOATS | _I32, linked=True, division="float32", blocks=False),
    _quantize(21, _21, _FLOATS | _I32, linked=True, division="float32"),
    _quantize(23, _23, _FLOATS | _I32),
    _quantize(24, _23, _FLOATS | _I32 | _E8),
    _quantize(25, _25, _FLOATS | _I32 | _E8),
    _quantize(28, _28, _FLOATS | _I32 | _E8),
    Row("ai.onnx", "dequantize", 10, _I8 | _I32, _F32, _F32, True, vector=False, axis=False),
    Row("ai.onnx", "dequantize", 13, _I8 | _I32, _F32, _F32, True),
    _dequantize(19, _19, _FLOATS, linked=True, blocks=False),
    _dequantize(21, _21, _FLOATS, linked=True),
    _dequantize(23, _23, _FLOATS),
    _dequantize(24, _23, _FLOATS | _E8),
    _dequantize(25, _25, _FLOATS | _E8),
    _dequantize(28, _28, _FLOATS | _E8),
)
