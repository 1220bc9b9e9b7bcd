"""What the profile of OpenVINO finds."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import attribute, changed, codes, constant, model, operands, operator, opset, port, scales, zeros
from tests.rules.runtimes.vendors.models import BLOCKED_Q, FINE, FLOAT_MATMUL, GATHER, N_BITS, PLUS, Q_MATMUL, Given, blocks, pair, weight

GATHERED = model(
    "g (int64[3] i) => (float[3, 32] y) { v = DequantizeLinear<axis = 0>(w, s) y = Gather(v, i) }",
    21,
    w=codes(t.INT8, 8, 32),
    s=scales(8),
)
"""An embedding with a scale for each row."""

GIVEN = (
    Given(
        "opset-of-openvino",
        "openvino",
        pair(t.INT8, 10),
        changed(pair(t.INT8, 10), opset(9)),
        "QDQ401",
        "openvino@2026.4: the model uses opset 9; it loads opsets 10 to 28",
    ),
    Given(
        "fnuz-in-openvino",
        "openvino",
        pair(t.FLOAT8E4M3FN),
        changed(pair(t.FLOAT8E4M3FN), constant(z=zeros(t.FLOAT8E4M3FNUZ))),
        "QDQ404",
        "openvino@2026.4: ai.onnx QuantizeLinear-19 with codes of float8e4m3fnuz; "
        "it takes uint8, int8, float8e4m3fn, float8e5m2; it says 'Unsupported data type'",
    ),
    Given(
        "short-block-in-openvino",
        "openvino",
        blocks(t.INT4, 16),
        changed(blocks(t.INT4, 16), attribute("v", block_size=48), constant(s=scales(2, 32))),
        "QDQ413",
        "openvino@2026.4: blocks of 48 along axis 0 of 'w' [64, 32]; it takes whole blocks only, and none of rank 1",
    ),
    Given(
        "short-quantized-block-in-openvino",
        "openvino",
        BLOCKED_Q,
        changed(BLOCKED_Q, attribute("q", block_size=3), constant(s=scales(4, 3), z=zeros(t.INT8, 4, 3))),
        "QDQ413",
        "openvino@2026.4: blocks of 3 along axis 1 of 'x' [4, 8]; it takes whole blocks only",
    ),
    Given(
        "bare-block-in-openvino",
        "openvino",
        BLOCKED_Q,
        changed(BLOCKED_Q, operands("q", "x", "s"), attribute("q", output_dtype=3)),
        "QDQ410",
        "openvino@2026.4: no zero point (int8 codes, blocks of 4 along axis 1); it wants one beside blocks",
    ),
    Given(
        "float8-zero-point-in-openvino",
        "openvino",
        pair(t.FLOAT8E4M3FN),
        changed(pair(t.FLOAT8E4M3FN), constant(z=np.array(1).astype(t.FLOAT8E4M3FN.numpy))),
        "QDQ409",
        "openvino@2026.4: zero point 'z' [] of float8e4m3fn is 1; it does not read the model",
    ),
    Given(
        "odd-zero-point-in-openvino",
        "openvino",
        pair(t.UINT8),
        changed(pair(t.UINT8), constant(z=np.uint8(3))),
        "QDQ428",
        "openvino@2026.4: zero point 'z' [] is odd; it rounds after adding the zero point, so exact ties come out one step different",
    ),
    Given(
        "precision-in-openvino",
        "openvino",
        FINE,
        changed(FINE, attribute("q", precision=10)),
        "QDQ408",
        "openvino@2026.4: the division is in float16; it divides in float32",
    ),
    Given(
        "saturate-in-openvino",
        "openvino",
        pair(t.FLOAT8E4M3FN),
        changed(pair(t.FLOAT8E4M3FN), attribute("q", saturate=0)),
        "QDQ408",
        "openvino@2026.4: saturate is 0; it always saturates",
    ),
    Given(
        "half-scale-in-openvino",
        "openvino",
        weight(t.INT8, 21),
        changed(
            weight(t.INT8, 21),
            constant(w=np.full((4, 8), 30001, np.int16), z=np.full(8, 30000, np.int16), s=scales(8, dtype=np.float16)),
            port("x", t.FLOAT16, [2, 4]),
            port("y", t.FLOAT16, [2, 8]),
        ),
        "QDQ427",
        "openvino@2026.4: int16 to float16, per axis 1, float16 scale; "
        "it makes the codes floats of 16 bits before it subtracts: they overflow or lose bits",
    ),
    Given(
        "sum-in-openvino",
        "openvino",
        PLUS,
        changed(
            PLUS,
            operator("y", "QLinearAdd", "com.microsoft"),
            operands("y", "q", "s", "z", "q", "s", "z", "s", "z"),
            port("y", t.INT8, [2, 4]),
        ),
        "QDQ427",
        "openvino@2026.4: com.microsoft QLinearAdd; it wraps around where it should saturate",
    ),
    Given(
        "gathered-columns-in-openvino",
        "openvino",
        GATHERED,
        changed(GATHERED, attribute("v", axis=1), constant(s=scales(32))),
        "QDQ427",
        "openvino@2026.4: Gather of 'w', per axis 1; it scales rows by the scales of columns",
    ),
    Given(
        "gemm-in-openvino",
        "openvino",
        PLUS,
        changed(
            PLUS,
            operator("y", "QGemm", "com.microsoft"),
            operands("y", "q", "s", "z", "w", "s", "z"),
            constant(w=codes(t.INT8, 4, 4)),
        ),
        "QDQ403",
        "openvino@2026.4: com.microsoft QGemm; it does not read the model",
    ),
    Given(
        "scales-in-openvino",
        "openvino",
        Q_MATMUL,
        changed(Q_MATMUL, constant(sw=scales(8), zw=zeros(t.INT8, 8))),
        "QDQ419",
        "openvino@2026.4: scale 'sw' [8]; it does not read QLinear operators with per-channel scales",
    ),
    Given(
        "n-bits-in-openvino",
        "openvino",
        FLOAT_MATMUL,
        changed(
            FLOAT_MATMUL,
            operator("y", "MatMulNBits", "com.microsoft"),
            attribute("y", K=64, N=8, bits=4, block_size=32),
            constant(w=np.zeros((8, 2, 16), np.uint8), s=scales(8, 2)),
            operands("y", "x", "w", "s"),
        ),
        "QDQ429",
        "openvino@2026.4: MatMulNBits; it quantizes the activations to int8 (0.3 to 1 % of the output's maximum)",
    ),
    Given(
        "g-idx-in-openvino",
        "openvino",
        N_BITS,
        changed(N_BITS, operands("y", "x", "w", "s", "", "g"), constant(g=np.repeat(np.arange(2), 32).astype(np.int32))),
        "QDQ426",
        "openvino@2026.4: 4 bits with g_idx 'g'; it ignores g_idx",
    ),
    Given(
        "gather-in-openvino",
        "openvino",
        GATHER,
        changed(GATHER, attribute("y", gather_axis=1, quantize_axis=0), constant(s=scales(1, 32))),
        "QDQ426",
        "openvino@2026.4: codes 'd' [4, 32] in blocks of 16 along axis 0; it takes blocks along the last axis that divide it",
    ),
)
