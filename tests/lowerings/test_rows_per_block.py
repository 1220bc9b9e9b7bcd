from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import rows_per_block
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, quantize, unshaped
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "per axis": dequantize(dtypes.INT8, (6, 50), PerAxis(0)),
    "unknown sizes": unshaped(quantize(dtypes.INT8, (6, 50), Blocked(1, 10)), "x"),
    "zero points of unknown sizes": unshaped(dequantize(dtypes.INT8, (64, 6), Blocked(0, 16), zero=True, live="z"), "z"),
    "nothing": dequantize(dtypes.INT8, (0, 16), Blocked(1, 8)),
}
TRANSFORMED = {
    "along the last axis": (
        dequantize(dtypes.INT8, (6, 64), Blocked(1, 16), zero=True),
        "Reshape(dequantize<int8>float32, per axis 0>(regroup[6, 64, 1, 16](x), reshape[(24,)](s), reshape[(24,)](z)), [6, 64])",
    ),
    "along the first axis": (
        dequantize(dtypes.INT8, (64, 6), Blocked(0, 16), zero=True),
        "Transpose(Reshape(dequantize<int8>float32, per axis 0>(regroup[1, 64, 6, 16](x), reshape[(24,)](transpose[(1, 0)](s)), "
        "reshape[(24,)](transpose[(1, 0)](z))), [6, 64]))",
    ),
    "in the middle": (
        dequantize(dtypes.INT8, (3, 32, 5), Blocked(1, 8)),
        "Transpose(Reshape(dequantize<int8>float32, per axis 0>(regroup[3, 32, 5, 8](x), reshape[(60,)](transpose[(0, 2, 1)]("
        "s))), [3, 5, 32]))",
    ),
    "a ragged last block": (
        dequantize(dtypes.INT8, (6, 50), Blocked(1, 16), zero=True),
        "Reshape(dequantize<int8>float32, per axis 0>(regroup[6, 50, 1, 2](x), reshape[(150,)](reblock[1, 16, 2, 25](s)), "
        "reshape[(150,)](reblock[1, 16, 2, 25](z))), [6, 50]) | Slice(Reshape(dequantize<int8>float32, per axis 0>(regroup[6, "
        "50, 1, 16](x), reshape[(24,)](s), reshape[(24,)](z)), [6, 64]), 0, 50, 1)",
    ),
    "ragged along the first axis": (
        dequantize(dtypes.INT8, (50, 6), Blocked(0, 15), zero=True),
        "Transpose(Reshape(dequantize<int8>float32, per axis 0>(regroup[1, 50, 6, 5](x), reshape[(60,)](transpose[(1, 0)]("
        "reblock[0, 15, 5, 10](s))), reshape[(60,)](transpose[(1, 0)](reblock[0, 15, 5, 10](z)))), [6, 50])) | Transpose(Slice("
        "Reshape(dequantize<int8>float32, per axis 0>(regroup[1, 50, 6, 15](x), reshape[(24,)](transpose[(1, 0)](s)), reshape[("
        "24,)](transpose[(1, 0)](z))), [6, 60]), 0, 50, 1))",
    ),
    "codes of the run": (
        dequantize(dtypes.INT8, (64, 6), Blocked(0, 16), zero=True, live="x"),
        "Transpose(Reshape(dequantize<int8>float32, per axis 0>(Reshape(Transpose(x), [24, 16]), reshape[(24,)](transpose[(1, "
        "0)](s)), reshape[(24,)](transpose[(1, 0)](z))), [6, 64]))",
    ),
    "longer than the axis": (
        dequantize(dtypes.INT8, (6, 50), Blocked(1, 64), zero=True),
        "dequantize<int8>float32, per axis 0>(regroup[6, 50, 1, 50](x), reshape[(6,)](s), reshape[(6,)](z))",
    ),
    "a quantize": (
        quantize(dtypes.UINT8, (3, 128), Blocked(1, 32), zero=True),
        "Reshape(quantize<float32>uint8, per axis 0>(Reshape(x, [12, 32]), reshape[(12,)](s), reshape[(12,)](z)), [3, 128])",
    ),
}
EXACT = {
    "ragged, all of the run": dequantize(dtypes.INT8, (6, 50), Blocked(1, 16), live="xs"),
    "ragged, scales constant but zero points not, codes of the run": dequantize(dtypes.INT8, (6, 50), Blocked(1, 16), zero=True, live="xz"),
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "all of the run": dequantize(dtypes.INT8, (64, 6), Blocked(0, 16), zero=True, live="xsz"),
    "blocks of one": dequantize(dtypes.INT8, (6, 50), Blocked(1, 1), zero=True),
    "prime": dequantize(dtypes.INT8, (3, 89), Blocked(1, 16)),
    "last but for ones": dequantize(dtypes.INT8, (6, 48, 1, 1), Blocked(1, 16), zero=True),
    "ragged, last but for ones": dequantize(dtypes.INT8, (6, 50, 1, 1), Blocked(1, 16), zero=True),
    "rank 1": dequantize(dtypes.INT8, (260,), Blocked(0, 32), zero=True),
    "four axes": dequantize(dtypes.INT8, (2, 3, 18, 4), Blocked(2, 6), zero=True),
    "ragged in four axes": dequantize(dtypes.INT8, (2, 3, 17, 4), Blocked(2, 6), zero=True),
    "quantize along the first axis": quantize(dtypes.INT8, (64, 9), Blocked(0, 16), zero=True),
    "ragged quantize": quantize(dtypes.INT8, (4, 140), Blocked(1, 24), zero=True),
    "run-time quantize": quantize(dtypes.UINT8, (4, 140), Blocked(1, 35), zero=True, live="xsz"),
    "float8": dequantize(dtypes.FLOAT8E4M3FN, (4, 64), Blocked(1, 16)),
    "int4": dequantize(dtypes.INT4, (4, 64), Blocked(1, 16), zero=True),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(rows_per_block, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(rows_per_block, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(rows_per_block, case)
