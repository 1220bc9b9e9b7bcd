"""The element-type table: one row per ONNX tensor element type, read by every other part.

Sources: ``TensorProto.DataType`` of onnx 1.23 and the type constraints of ``Cast`` in ``onnx.defs`` (column ``since``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import ml_dtypes
import numpy as np

Kind = Literal["int", "uint", "float", "bool", "string", "complex"]


@dataclass(frozen=True, eq=False, slots=True)
class ElementType:
    """One element type.

    `since` is the first opset whose ``Cast`` knows the type; `ir` the first ``ir_version`` that may hold it.
    `low` and `high` bound its finite values; `specials` tells whether it has codes for infinity or NaN.
    """

    name: str
    code: int
    bits: int
    numpy: np.dtype[Any]
    kind: Kind
    since: int
    ir: int
    low: float
    high: float
    specials: bool = False

    @property
    def integer(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def small_float(self) -> bool:
        return self.kind == "float" and self.bits <= 8

    @property
    def packed(self) -> bool:
        """Several elements share a byte in storage."""
        return self.bits < 8

    def nbytes(self, elements: int) -> int:
        """Size in storage of that many elements."""
        return (elements * self.bits + 7) // 8

    def __repr__(self) -> str:
        return self.name


def _integer(name: str, code: int, bits: int, dtype: Any, since: int, ir: int) -> ElementType:
    signed = not name.startswith("u")
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return ElementType(name, code, bits, np.dtype(dtype), "int" if signed else "uint", since, ir, low, high)


def _float(name: str, code: int, bits: int, dtype: Any, since: int, ir: int, high: float, specials: bool) -> ElementType:
    return ElementType(name, code, bits, np.dtype(dtype), "float", since, ir, -high, high, specials)


FLOAT = _float("float32", 1, 32, np.float32, 1, 3, 3.4028234663852886e38, True)
UINT8 = _integer("uint8", 2, 8, np.uint8, 1, 3)
INT8 = _integer("int8", 3, 8, np.int8, 1, 3)
UINT16 = _integer("uint16", 4, 16, np.uint16, 1, 3)
INT16 = _integer("int16", 5, 16, np.int16, 1, 3)
INT32 = _integer("int32", 6, 32, np.int32, 1, 3)
INT64 = _integer("int64", 7, 64, np.int64, 1, 3)
STRING = ElementType("string", 8, 8, np.dtype(object), "string", 9, 3, 0, 0)
BOOL = ElementType("bool", 9, 8, np.dtype(np.bool_), "bool", 1, 3, 0, 1)
FLOAT16 = _float("float16", 10, 16, np.float16, 1, 3, 65504.0, True)
DOUBLE = _float("float64", 11, 64, np.float64, 1, 3, 1.7976931348623157e308, True)
UINT32 = _integer("uint32", 12, 32, np.uint32, 1, 3)
UINT64 = _integer("uint64", 13, 64, np.uint64, 1, 3)
COMPLEX64 = ElementType("complex64", 14, 64, np.dtype(np.complex64), "complex", 99, 3, 0, 0)
COMPLEX128 = ElementType("complex128", 15, 128, np.dtype(np.complex128), "complex", 99, 3, 0, 0)
BFLOAT16 = _float("bfloat16", 16, 16, ml_dtypes.bfloat16, 13, 4, 3.3895313892515355e38, True)
FLOAT8E4M3FN = _float("float8e4m3fn", 17, 8, ml_dtypes.float8_e4m3fn, 19, 9, 448.0, True)
FLOAT8E4M3FNUZ = _float("float8e4m3fnuz", 18, 8, ml_dtypes.float8_e4m3fnuz, 19, 9, 240.0, True)
FLOAT8E5M2 = _float("float8e5m2", 19, 8, ml_dtypes.float8_e5m2, 19, 9, 57344.0, True)
FLOAT8E5M2FNUZ = _float("float8e5m2fnuz", 20, 8, ml_dtypes.float8_e5m2fnuz, 19, 9, 57344.0, True)
UINT4 = _integer("uint4", 21, 4, ml_dtypes.uint4, 21, 10)
INT4 = _integer("int4", 22, 4, ml_dtypes.int4, 21, 10)
FLOAT4E2M1 = _float("float4e2m1", 23, 4, ml_dtypes.float4_e2m1fn, 23, 11, 6.0, False)
FLOAT8E8M0 = ElementType("float8e8m0", 24, 8, np.dtype(ml_dtypes.float8_e8m0fnu), "float", 24, 12, 2.0**-127, 2.0**127, True)
UINT2 = _integer("uint2", 25, 2, ml_dtypes.uint2, 25, 13)
INT2 = _integer("int2", 26, 2, ml_dtypes.int2, 25, 13)
FLOAT6E2M3 = _float("float6e2m3", 27, 6, ml_dtypes.float6_e2m3fn, 28, 14, 7.5, False)
FLOAT6E3M2 = _float("float6e3m2", 28, 6, ml_dtypes.float6_e3m2fn, 28, 14, 28.0, False)

ALL: tuple[ElementType, ...] = tuple(v for v in list(globals().values()) if isinstance(v, ElementType))

_BY_CODE = {t.code: t for t in ALL}
_BY_NAME = {t.name: t for t in ALL}
_BY_NUMPY = {t.numpy: t for t in ALL}

FLOAT8 = (FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ)


def of_code(code: int) -> ElementType | None:
    """Row of a ``TensorProto.DataType`` value; None for UNDEFINED and codes this table does not know."""
    return _BY_CODE.get(code)


def of_name(name: str) -> ElementType:
    """Row of a name such as ``int4``; KeyError when there is none."""
    return _BY_NAME[name]


def of_numpy(dtype: Any) -> ElementType:
    """Row of a numpy (or ml_dtypes) dtype; KeyError when ONNX has no such type."""
    return _BY_NUMPY[np.dtype(dtype)]
