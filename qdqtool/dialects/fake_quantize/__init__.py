"""FakeQuantize of OpenVINO: real values moved to one of `levels` values between two ends, as its ONNX importer and NNCF's exports have it.

``x <= il: ol; x > ih: oh; else round_half_even((x - il) / (ih - il) * (levels - 1)) / (levels - 1) * (oh - ol) + ol``. Source: the
specification of FakeQuantize-1, executed in OpenVINO 2026.4, whose CPU plugin follows it to 5e-7 of the range, not to the bit. So nothing
here is more than equal up to rounding. The zero is one of the levels where ``-il / step`` is an integer: then it is a quantize and a
dequantize. It rounds after the zero point is added, so ties fall otherwise where that is odd, counted from the lowest level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from qdqtool.dialects.fake_quantize.fusing import fuse
from qdqtool.dialects.fake_quantize.narrowing import narrowed
from qdqtool.dialects.fake_quantize.ranges import DOMAIN, MOST, granularity, storages_of
from qdqtool.dialects.fake_quantize.splitting import split
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Attribute, Expr, Op, Shape, known
from qdqtool.quantization import Meaning

__all__ = ["DOMAIN", "INNER", "LAST", "NAME", "OPERATORS", "fuse", "meaning", "narrowed", "result", "split"]

NAME = "fakequantize"
OPERATORS = ((DOMAIN, "FakeQuantize"),)
LAST = ("DequantizeLinear",)
INNER = ("Clip",)


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    known = [e for e in inputs if e is not None]
    dtype = next((e.dtype for e in known if e.dtype is not None), None)
    return dtype, known[0].shape if known else None


def meaning(op: Op) -> Meaning | None:
    levels, x, ends = dict(op.attributes).get("levels"), (*op.inputs, None)[0], [e.shape for e in op.inputs[1:3] if e is not None]
    storage = storages_of(levels)[0] if isinstance(levels, int) and 2 <= levels <= MOST else None
    sizes = max((known(shape) or () for shape in ends), key=prod, default=())
    rank = None if x is None or x.shape is None else len(x.shape)
    where = granularity(sizes, rank) if None not in ends else None
    return Meaning("quantize", storage, op.dtype, op.dtype, where)
