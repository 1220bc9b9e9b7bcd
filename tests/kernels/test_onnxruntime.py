"""The kernels against ONNX Runtime 1.32 on CPU with all optimizations off, for every form it has a kernel for.

It has none for bfloat16, float8e8m0 scales, float4, float6, int32 input and opset 28.
"""

from __future__ import annotations

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.dtypes import FLOAT, FLOAT8, FLOAT8E4M3FN, FLOAT8E5M2, FLOAT8E8M0, FLOAT16, INT4, INT32, ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.quantize import quantize
from tests.formats import bits_of, same_bits
from tests.kernels.runtime import run_node
from tests.kernels.samples import EXTREMES, INTEGER_STORAGE, SCALES, as_type, codes_of, quantize_rows, quotients, zero_points

STORAGE = (*INTEGER_STORAGE, *FLOAT8)
MICROSOFT = "com.microsoft"

# opset, type of x, type of scale, division, attributes
QUANTIZE: list[tuple[int, ElementType, ElementType, ElementType, dict[str, int]]] = [
    (10, FLOAT, FLOAT, FLOAT, {}),
    (13, FLOAT, FLOAT, FLOAT, {}),
    (19, FLOAT16, FLOAT16, FLOAT, {}),
    (21, FLOAT, FLOAT, FLOAT, {}),
    (21, FLOAT16, FLOAT16, FLOAT, {}),
    (23, FLOAT16, FLOAT16, FLOAT16, {}),
    (25, FLOAT, FLOAT, FLOAT, {}),
    (25, FLOAT16, FLOAT16, FLOAT16, {}),
    (25, FLOAT16, FLOAT, FLOAT, {}),
    (25, FLOAT, FLOAT16, FLOAT16, {}),
    (25, FLOAT16, FLOAT16, FLOAT, {"precision": FLOAT.code}),
    (25, FLOAT, FLOAT, FLOAT16, {"precision": FLOAT16.code}),
]


def since(storage: ElementType) -> int:
    """First opset of DequantizeLinear for the type."""
    return {2: 25, 4: 21, 16: 21, 32: 10}.get(storage.bits, 10 if storage.integer else 19)


def agree(expected: np.ndarray, actual: np.ndarray, to: ElementType) -> bool:
    return same_bits(actual, bits_of(expected), to)


QUANTIZE_CASES = [(storage, *form) for storage in STORAGE for form in QUANTIZE if form[0] >= since(storage)]


@pytest.mark.parametrize(("storage", "opset", "x_type", "scale_type", "compute", "attributes"), QUANTIZE_CASES)
def test_quantize(
    storage: ElementType, opset: int, x_type: ElementType, scale_type: ElementType, compute: ElementType, attributes: dict[str, int]
) -> None:
    x, scale, zero = quantize_rows(storage, x_type, scale_type)
    ours = quantize(x, scale, zero, storage=storage, axis=0, block=None, compute=compute)
    # Before opset 13 there is no attribute axis, and a vector scale runs along axis 1.
    axis = 0 if opset >= 13 else 1
    if axis == 1:
        x, ours = x.T, ours.T
    where = {"axis": axis} if opset >= 13 else {}
    theirs = run_node("QuantizeLinear", [x, scale, zero], storage, x.shape, opset=opset, **where, **attributes)
    assert agree(ours, theirs, storage)


@pytest.mark.parametrize("x_type", [FLOAT, FLOAT16], ids=repr)
@pytest.mark.parametrize("storage", [t for t in INTEGER_STORAGE if t.bits > 2], ids=repr)
def test_quantize_of_com_microsoft(storage: ElementType, x_type: ElementType) -> None:
    x, scale, zero = quantize_rows(storage, x_type, x_type)
    ours = quantize(x, scale, zero, storage=storage, axis=0, block=None, compute=FLOAT)
    theirs = run_node("QuantizeLinear", [x, scale, zero], storage, x.shape, opset=21, domain=MICROSOFT, axis=0)
    assert agree(ours, theirs, storage)


@pytest.mark.parametrize(("scale_type", "expressed"), [(FLOAT, FLOAT), (FLOAT16, FLOAT16), (FLOAT, FLOAT16), (FLOAT16, FLOAT)], ids=repr)
@pytest.mark.parametrize("storage", [*STORAGE, INT32], ids=repr)
def test_dequantize(storage: ElementType, scale_type: ElementType, expressed: ElementType) -> None:
    scale = as_type(SCALES, scale_type)
    # It rejects float8 zero points other than +0.
    zero = zero_points(storage, len(SCALES)) if storage.integer else np.zeros(len(SCALES), storage.numpy)
    q = np.stack([codes_of(storage)] * len(SCALES))
    ours = dequantize(q, scale, zero, expressed=expressed, axis=0, block=None)
    attributes = {"output_dtype": expressed.code} if expressed is not scale_type else {}
    theirs = run_node("DequantizeLinear", [q, scale, zero], expressed, q.shape, opset=25, axis=0, **attributes)
    assert agree(ours, theirs, expressed)


DEQUANTIZE_CASES = [(t, opset, "") for t in (*STORAGE, INT32) for opset in (10, 13, 19, 21, 23, 24) if opset >= since(t)]
DEQUANTIZE_CASES += [(t, 13, MICROSOFT) for t in (*INTEGER_STORAGE, INT32) if t.bits > 2]


@pytest.mark.parametrize(("storage", "opset", "domain"), DEQUANTIZE_CASES)
def test_dequantize_at_every_version(storage: ElementType, opset: int, domain: str) -> None:
    q, scale, zero = codes_of(storage), np.array(0.1, np.float32), zero_points(storage, 4)[3 if storage.integer else 0]
    ours = dequantize(q, scale, np.asarray(zero), expressed=FLOAT, axis=None, block=None)
    theirs = run_node("DequantizeLinear", [q, scale, np.asarray(zero)], FLOAT, q.shape, opset=opset, domain=domain)
    assert agree(ours, theirs, FLOAT)


GRANULARITIES = [
    ((3, 5, 4), (), None, None),
    ((3, 5, 4), (1,), None, None),
    ((), (), None, None),
    ((0, 3), (), None, None),
    ((3, 5, 4), (3,), 0, None),
    ((3, 5, 4), (4,), -1, None),
    ((5,), (5,), 0, None),
    ((0, 3), (3,), 1, None),
    ((6, 5, 4), (2, 5, 4), 0, 3),
    ((3, 5, 4), (3, 3, 4), 1, 2),
    ((3, 5, 4), (3, 5, 2), -1, 3),
    ((3, 5, 4), (3, 1, 4), 1, 16),
    ((3, 5, 4), (3, 5, 4), 1, 1),
    ((7,), (3,), 0, 3),
    ((1, 7), (1, 1), 1, 32),
    ((0, 7), (0, 2), 1, 4),
]


@pytest.mark.parametrize(("shape", "parameters", "axis", "block"), GRANULARITIES)
@pytest.mark.parametrize("storage", [INT4, dtypes.UINT8, FLOAT8E4M3FN], ids=repr)
def test_granularity(
    storage: ElementType, shape: tuple[int, ...], parameters: tuple[int, ...], axis: int | None, block: int | None
) -> None:
    rng = np.random.default_rng(5)
    x = np.asarray(rng.standard_normal(shape) * 9, np.float32)
    scale = np.asarray(np.exp(rng.standard_normal(parameters)), np.float32)
    zero = np.zeros(parameters, storage.numpy) if not storage.integer else np.asarray(rng.integers(0, 7, parameters)).astype(storage.numpy)
    attributes = {k: v for k, v in (("axis", axis), ("block_size", block)) if v is not None}
    q = quantize(x, scale, zero, storage=storage, axis=axis, block=block, compute=FLOAT)
    assert agree(q, run_node("QuantizeLinear", [x, scale, zero], storage, shape, opset=25, **attributes), storage)
    y = dequantize(q, scale, zero, expressed=FLOAT, axis=axis, block=block)
    assert agree(y, run_node("DequantizeLinear", [q, scale, zero], FLOAT, shape, opset=25, **attributes), FLOAT)


CASTS = [*INTEGER_STORAGE, INT32, dtypes.INT64, dtypes.BOOL, *FLOAT8, FLOAT, FLOAT16, dtypes.BFLOAT16, dtypes.DOUBLE]


@pytest.mark.parametrize("to", CASTS, ids=repr)
def test_cast(to: ElementType) -> None:
    floats = np.concatenate([quotients(INT4), quotients(FLOAT8E4M3FN), quotients(dtypes.INT16), np.float32(EXTREMES)])
    sources = [as_type(floats, t) for t in (FLOAT, FLOAT16, dtypes.BFLOAT16)]
    sources += [floats.astype(np.float64) * (1 + 2**-40)] + [codes_of(t) for t in (*INTEGER_STORAGE, INT32, *FLOAT8)]
    for x in sources:
        if x.dtype == to.numpy:
            continue
        theirs = run_node("Cast", [x], to, x.shape, opset=25, to=to.code)
        if to is dtypes.BOOL and x.dtype in (FLOAT8E4M3FN.numpy, FLOAT8E5M2.numpy):
            # It looks at the code, so -0.0 becomes true, against the text of Cast.
            assert theirs[bits_of(x) == 0x80]
            theirs[bits_of(x) == 0x80] = False
        assert agree(cast(x, to), theirs, to), x.dtype


@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
def test_cast_to_powers_of_two(round_mode: str, saturate: int) -> None:
    powers = np.ldexp(1.0, [-149, -128, -127, -126, -1, 0, 1, 126, 127])
    x = as_type(np.concatenate([np.outer(powers, [1, 1.25, 1.5, 1.75, -1]).ravel(), EXTREMES]), FLOAT)
    theirs = run_node("Cast", [x], FLOAT8E8M0, x.shape, opset=25, to=FLOAT8E8M0.code, saturate=saturate, round_mode=round_mode)
    assert agree(cast(x, FLOAT8E8M0, saturate=bool(saturate), round_mode=round_mode), theirs, FLOAT8E8M0)


def unsaturated(to: ElementType, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Our Cast and theirs; QuantizeLinear with scale 1 is the same on either side."""
    one, zero = np.ones((), np.float32), np.zeros((), to.numpy)
    ours, theirs = cast(x, to, saturate=False), run_node("Cast", [x], to, x.shape, opset=25, to=to.code, saturate=0)
    assert agree(ours, quantize(x, one, zero, storage=to, axis=None, block=None, compute=FLOAT, saturate=False), to)
    assert agree(theirs, run_node("QuantizeLinear", [x, one, zero], to, x.shape, opset=25, saturate=0), to)
    return ours, theirs


def differing(to: ElementType, x: np.ndarray) -> np.ndarray:
    ours, theirs = unsaturated(to, x)
    a, b = ours.astype(np.float32), theirs.astype(np.float32)
    return ~((a == b) | (np.isnan(a) & np.isnan(b)))


# Where it leaves the table of Cast without `saturate` (magnitudes): from, to, what it gives, what the table says.
FAULTS = {FLOAT8E4M3FN: (480.0, 496.0, 448.0, np.nan), FLOAT8E5M2: (61440.0, 65536.0, np.nan, np.inf)}


@pytest.mark.parametrize("to", FLOAT8, ids=repr)
def test_unsaturated_float8_differs_in_two_known_intervals_only(to: ElementType) -> None:
    magnitudes = np.concatenate(
        [np.geomspace(to.high / 4, to.high * 4, 4001), np.linspace(to.high, to.high * 1.2, 4001), *[[v] for v in FAULTS.get(to, ())[:2]]]
    )
    x = as_type(np.concatenate([magnitudes, -magnitudes, quotients(to), EXTREMES]), FLOAT)
    low, high, _, _ = FAULTS.get(to, (np.inf, 0.0, 0.0, 0.0))
    expected = (np.abs(x) >= low) & (np.abs(x) < high)
    assert np.array_equal(differing(to, x), expected)


@pytest.mark.parametrize("to", list(FAULTS), ids=repr)
def test_what_the_two_intervals_give(to: ElementType) -> None:
    low, high, given, right = FAULTS[to]
    x = np.linspace(low * 1.001, high * 0.999, 50, dtype=np.float32)
    ours, theirs = unsaturated(to, x)
    assert np.array_equal(theirs.astype(np.float32), np.full(50, given), equal_nan=True)
    assert np.array_equal(ours.astype(np.float32), np.full(50, right), equal_nan=True)
