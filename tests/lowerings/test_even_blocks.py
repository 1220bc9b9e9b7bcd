from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import even_blocks
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, quantize
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "per axis": dequantize(dtypes.INT8, (4, 10), PerAxis(0)),
    "blocks that divide": dequantize(dtypes.INT8, (4, 12), Blocked(1, 4)),
    "nothing in it": dequantize(dtypes.INT8, (0, 10), Blocked(1, 4)),
}
TRANSFORMED = {
    "a short last block": (
        dequantize(dtypes.INT8, (3, 10), Blocked(1, 4), zero=True),
        "dequantize<int8>float32, blocks of 2 along axis 1>(x, reblock[1, 4, 2, 5](s), reblock[1, 4, 2, 5](z))",
    ),
    "larger than the dimension": (
        dequantize(dtypes.INT8, (3, 10), Blocked(0, 4)),
        "dequantize<int8>float32, blocks of 3 along axis 0>(x, reblock[0, 4, 3, 1](s))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "a quantize": quantize(dtypes.INT8, (3, 10), Blocked(1, 4), zero=True),
    "codes of the run": dequantize(dtypes.INT8, (3, 10), Blocked(1, 4), zero=True, live="xsz"),
    "nothing in common": dequantize(dtypes.UINT4, (7, 5), Blocked(0, 3), zero=True),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(even_blocks, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(even_blocks, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(even_blocks, case)
