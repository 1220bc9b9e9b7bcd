from __future__ import annotations

import numpy as np

from qdqtool import dtypes
from qdqtool.lowerings import collapse
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, quantize, unshaped
from tests.lowerings.verbs import cases, exact, noop, transformed

ULP = float(np.nextafter(np.float32(0.1), np.float32(1)))
NOOP = {
    "scales one ulp apart": dequantize(dtypes.INT8, (6, 50), PerAxis(0), scales=[0.1, ULP]),
    "zeros of both signs": dequantize(dtypes.INT8, (6, 50), PerAxis(0), scales=[0.0, -0.0]),
    "per tensor": dequantize(dtypes.INT8),
    "scales that differ": dequantize(dtypes.INT8, (6, 50), PerAxis(0)),
    "equal scales, zero points that differ": dequantize(dtypes.INT8, (6, 50), PerAxis(0), scales=[0.1], zero=True),
    "scales that differ along two axes": dequantize(dtypes.INT8, (6, 60), Blocked(1, 20)),
    "blocks that differ along their axis": dequantize(dtypes.INT8, (1, 60), Blocked(1, 20)),
    "a scale of the run": dequantize(dtypes.INT8, (6, 50), PerAxis(0), scales=[0.1], live="s"),
    "unknown rank": unshaped(quantize(dtypes.INT8, (6, 50), PerAxis(0), scales=[0.1]), "x", rank=False),
}
TRANSFORMED = {
    "equal scales along an axis": (
        dequantize(dtypes.INT8, (6, 50), PerAxis(0), scales=[0.1]),
        "dequantize<int8>float32, per tensor>(x, first[(0,), ()](s))",
    ),
    "equal blocks": (
        dequantize(dtypes.INT4, (6, 50), Blocked(1, 16), scales=[0.1]),
        "dequantize<int4>float32, per tensor>(x, first[(0, 1), ()](s))",
    ),
    "one block a row": (
        dequantize(dtypes.INT4, (6, 50), Blocked(1, 64), zero=True),
        "dequantize<int4>float32, per axis 0>(x, first[(1,), (6,)](s), first[(1,), (6,)](z))",
    ),
    "blocks of one": (
        dequantize(dtypes.INT4, (1, 50), Blocked(1, 1), zero=True),
        "dequantize<int4>float32, per axis 1>(x, first[(0,), (50,)](s), first[(0,), (50,)](z))",
    ),
    "a quantize": (
        quantize(dtypes.INT8, (2, 140), Blocked(0, 1), scales=[0.25, 3.0]),
        "quantize<float32>int8, per axis 1>(x, first[(0,), (140,)](s))",
    ),
}
EXACT = {
    "no elements": dequantize(dtypes.INT8, (0, 3), PerAxis(0)),
    "no elements in blocks, all of the run": dequantize(dtypes.INT8, (8, 0), Blocked(0, 2), zero=True, live="xsz"),
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "rank 1": dequantize(dtypes.INT4, (40,), Blocked(0, 16), scales=[0.25]),
    "blocks in the middle": dequantize(dtypes.UINT8, (4, 16, 4), Blocked(1, 16), scales=[0.5]),
    "equal rows of blocks": dequantize(dtypes.INT4, (2, 8, 6), Blocked(1, 8), scales=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6] * 2),
    "quantize per axis": quantize(dtypes.UINT8, (3, 140), PerAxis(0), scales=[0.3], zero=7),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(collapse, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(collapse, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(collapse, case)
