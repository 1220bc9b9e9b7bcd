"""What the profile of TensorRT finds."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import attribute, changed, codes, constant, inserted, operands, opset, port, scales, zeros
from tests.rules.runtimes.vendors.models import DYNAMIC, READ, Given, blocks, pair, sorted_again, weight

GIVEN = (
    Given(
        "opset-of-trt",
        "tensorrt@10.0",
        weight(t.INT8, 20),
        changed(weight(t.INT8, 20), opset(21)),
        "QDQ401",
        "tensorrt@10.0: the model uses opset 21; it loads opsets 9 to 20",
    ),
    Given(
        "zero-point-of-trt",
        "tensorrt",
        pair(t.INT8),
        changed(pair(t.INT8), constant(z=np.int8(3))),
        "QDQ409",
        "tensorrt@11.0: zero point 'z' [] of int8 is 3; it is symmetric only",
    ),
    Given(
        "int16-in-trt",
        "tensorrt@10.0",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=np.int16(0))),
        "QDQ404",
        "tensorrt@10.0: ai.onnx QuantizeLinear-21 with codes of int16; it takes int8, float8e4m3fn, int4",
    ),
    Given(
        "uint8-in-trt",
        "tensorrt",
        pair(t.INT8),
        changed(pair(t.INT8), constant(z=np.uint8(0))),
        "QDQ404",
        "tensorrt@11.0: codes of uint8; it reads them as int8, so those above 127 change (a DLA parser flag makes it read real uint8)",
    ),
    Given(
        "negative-in-trt",
        "tensorrt",
        weight(t.INT8),
        changed(weight(t.INT8), constant(s=-scales(8))),
        "QDQ415",
        "tensorrt@11.0: scale 's' [8] has 8 of 8 values of 0 or less; it wants every constant scale above 0",
    ),
    Given(
        "no-zero-point-in-trt",
        "tensorrt",
        pair(t.INT8),
        changed(pair(t.INT8), operands("q", "x", "s"), operands("y", "q", "s")),
        "QDQ410",
        "tensorrt@11.0: no zero point (uint8 codes, per tensor); it gives int8 then, ONNX uint8",
    ),
    Given(
        "no-axis-in-trt",
        "tensorrt@10.0",
        weight(t.INT8),
        changed(weight(t.INT8), attribute("v", axis=None)),
        "QDQ412",
        "tensorrt@10.0: scale 's' [8] without axis, which is 1; it takes axis 0",
    ),
    Given(
        "activation-per-axis-in-trt",
        "tensorrt",
        pair(t.INT8),
        changed(pair(t.INT8), constant(s=scales(8), z=zeros(t.INT8, 8)), attribute("q", axis=1), attribute("y", axis=1)),
        "QDQ417",
        "tensorrt@11.0: activation 'x' with scale 's' [8], per axis 1; per axis is for weights there",
    ),
    Given(
        "short-block-in-trt",
        "tensorrt",
        blocks(t.INT4, 16),
        changed(blocks(t.INT4, 16), attribute("v", block_size=48), constant(s=scales(2, 32))),
        "QDQ413",
        "tensorrt@11.0: blocks of 48 along axis 0 of 'w' [64, 32]; it takes whole blocks along the last dimension or the one before",
    ),
    Given(
        "odd-row-in-trt",
        "tensorrt@10.0",
        weight(t.INT4, 21),
        changed(weight(t.INT4, 21), constant(w=codes(t.INT4, 4, 7), s=scales(7), z=zeros(t.INT4, 7)), port("y", t.FLOAT, [2, 7])),
        "QDQ416",
        "tensorrt@10.0: int4 codes 'w' [4, 7]; the last dimension must be even",
    ),
    Given(
        "odd-number-in-trt",
        "tensorrt",
        weight(t.INT4, 21),
        changed(
            weight(t.INT4, 21),
            constant(w=codes(t.INT4, 5, 7), s=scales(7), z=zeros(t.INT4, 7)),
            port("y", t.FLOAT, [2, 7]),
            port("x", t.FLOAT, [2, 5]),
        ),
        "QDQ416",
        "tensorrt@11.0: int4 codes 'w' [5, 7]; their number must be even",
    ),
    Given(
        "int4-activation-in-trt",
        "tensorrt",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=zeros(t.INT4))),
        "QDQ404",
        "tensorrt@11.0: codes of int4; 4-bit integers are for weights there",
    ),
    Given(
        "float4-blocks-in-trt",
        "tensorrt",
        blocks(t.FLOAT4E2M1, 16),
        changed(blocks(t.FLOAT4E2M1, 16), attribute("v", block_size=32), constant(s=scales(2, 32))),
        "QDQ413",
        "tensorrt@11.0: blocks of 32 along axis 0 of 'w' [64, 32]; "
        "it takes float4e2m1 in blocks of 16, with float8e4m3fn scales that have a scale of their own",
    ),
    Given(
        "precision-in-trt",
        "tensorrt",
        pair(t.INT8, 23),
        changed(pair(t.INT8, 23), attribute("q", precision=10)),
        "QDQ408",
        "tensorrt@11.0: the division is in float16; it ignores it, with a warning",
    ),
    Given(
        "dynamic-in-trt",
        "tensorrt",
        DYNAMIC,
        changed(DYNAMIC, inserted(0, "DynamicQuantizeLinear", ["x"], ["a", "c", "e"])),
        "QDQ403",
        "tensorrt@11.0: DynamicQuantizeLinear; it imports no such operator",
    ),
    Given(
        "codes-read-in-trt",
        "tensorrt",
        READ,
        changed(READ, operands("v", "u", "s"), operands("u", "w", "n"), operands("y", "x", "v"), sorted_again),
        "QDQ437",
        "tensorrt@11.0: Reshape reads constant codes 'w' of int8; it wants a DequantizeLinear between constant codes and their consumer",
    ),
    Given(
        "computed-scale-in-trt",
        "tensorrt",
        DYNAMIC,
        changed(DYNAMIC, operands("q", "x", "s", "z")),
        "QDQ414",
        "tensorrt@11.0: scale 's' not constant; the scale must be known when the engine is built",
    ),
)
