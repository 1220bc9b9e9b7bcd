"""What the profile of compilers: TVM, tract, MIGraphX, onnx-mlir and Qualcomm's converter finds."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import attribute, changed, codes, constant, operands, opset, port, scales, zeros
from tests.rules.runtimes.vendors.models import DYNAMIC, Given, pair, weight

GIVEN = (
    Given(
        "opset-of-mlir",
        "onnx-mlir",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), opset(23)),
        "QDQ401",
        "onnx-mlir: the model uses opset 23; it loads opsets 7 to 21",
    ),
    Given(
        "opset-of-migraphx",
        "migraphx",
        pair(t.INT8, 19),
        changed(pair(t.INT8, 19), opset(21)),
        "QDQ401",
        "migraphx@7.2: the model uses opset 21; it loads opsets 7 to 19",
    ),
    Given(
        "opset-of-qnn-converter",
        "qnn-converter",
        weight(t.INT8, 24),
        changed(weight(t.INT8, 24), opset(25)),
        "QDQ401",
        "qnn-converter: the model uses opset 25; it loads opsets 7 to 24",
    ),
    Given(
        "converted-half-in-qnn-converter",
        "qnn-converter",
        weight(t.INT8, 21),
        changed(weight(t.INT8, 21), constant(s=scales(8, dtype=np.float16)), port("x", t.FLOAT16, [2, 4]), port("y", t.FLOAT16, [2, 8])),
        "QDQ405",
        "qnn-converter: ai.onnx DequantizeLinear-21 with output of float16; it takes float32",
    ),
    Given(
        "int4-in-tvm",
        "tvm",
        weight(t.INT8, 21),
        changed(weight(t.INT8, 21), constant(w=codes(t.INT4, 4, 8), z=zeros(t.INT4, 8))),
        "QDQ404",
        "tvm@0.27: ai.onnx DequantizeLinear-21 with codes of int4; it takes uint8, int8, uint16, int16, int32",
    ),
    Given(
        "bfloat16-in-tvm",
        "tvm",
        weight(t.INT8, 21),
        changed(
            weight(t.INT8, 21), constant(s=scales(8).astype(t.BFLOAT16.numpy)), port("x", t.BFLOAT16, [2, 4]), port("y", t.BFLOAT16, [2, 8])
        ),
        "QDQ405",
        "tvm@0.27: ai.onnx DequantizeLinear-21 with output of bfloat16; it takes float32, float16",
    ),
    Given(
        "blocks-in-tvm",
        "tvm",
        weight(t.INT8, 21),
        changed(weight(t.INT8, 21), constant(s=scales(2, 8), z=zeros(t.INT8, 2, 8)), attribute("v", axis=0, block_size=2)),
        "QDQ406",
        "tvm@0.27: scale 's' [2, 8]: blocks of 2 along axis 0, and it has no blocks; it says 'not supported yet'",
    ),
    Given(
        "precision-in-tvm",
        "tvm",
        pair(t.INT8, 23),
        changed(pair(t.INT8, 23), attribute("q", precision=1)),
        "QDQ407",
        "tvm@0.27: ai.onnx QuantizeLinear-23 with precision, which it has not",
    ),
    Given(
        "half-of-16-bits-in-tvm",
        "tvm",
        pair(t.INT16, 21),
        changed(pair(t.INT16, 21), constant(s=np.float16(0.5)), port("x", t.FLOAT16, [4, 8]), port("y", t.FLOAT16, [4, 8])),
        "QDQ427",
        "tvm@0.27: float16 to int16, per tensor, float16 scale, divided in float32; 16-bit codes saturate at the wrong end",
    ),
    Given(
        "half-of-int32-in-tvm",
        "tvm",
        weight(t.INT8, 21),
        changed(
            weight(t.INT8, 21),
            constant(w=codes(t.INT32, 4, 8), s=scales(8, dtype=np.float16)),
            operands("v", "w", "s"),
            port("x", t.FLOAT16, [2, 4]),
            port("y", t.FLOAT16, [2, 8]),
        ),
        "QDQ427",
        "tvm@0.27: int32 to float16, per axis 1, float16 scale; they overflow",
    ),
    Given(
        "output-dtype-in-tract",
        "tract",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), operands("q", "x", "s"), attribute("q", output_dtype=3)),
        "QDQ408",
        "tract@0.23: output_dtype is int8; it gives uint8 whatever it says",
    ),
    Given(
        "int16-in-tract",
        "tract",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=np.int16(0))),
        "QDQ404",
        "tract@0.23: ai.onnx QuantizeLinear-21 with codes of int16; it takes uint8, int8",
    ),
    Given(
        "half-in-tract",
        "tract",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(s=np.float16(0.5)), port("x", t.FLOAT16, [4, 8]), port("y", t.FLOAT16, [4, 8])),
        "QDQ405",
        "tract@0.23: ai.onnx QuantizeLinear-21 with input of float16; it takes float32",
    ),
    Given(
        "blocks-in-tract",
        "tract",
        weight(t.INT8, 21),
        changed(weight(t.INT8, 21), constant(s=scales(2, 8), z=zeros(t.INT8, 2, 8)), attribute("v", axis=0, block_size=2)),
        "QDQ406",
        "tract@0.23: scale 's' [2, 8]: blocks of 2 along axis 0, and it has no blocks",
    ),
    Given(
        "computed-scale-in-tract",
        "tract",
        DYNAMIC,
        changed(DYNAMIC, operands("q", "x", "s", "z")),
        "QDQ414",
        "tract@0.23: scale 's' not constant; it wants constant scales and zero points",
    ),
    Given(
        "float8-in-migraphx",
        "migraphx",
        pair(t.INT8),
        changed(pair(t.INT8), constant(z=zeros(t.FLOAT8E4M3FN))),
        "QDQ404",
        "migraphx@7.2: ai.onnx QuantizeLinear-19 with codes of float8e4m3fn; it takes uint8, int8, float8e4m3fnuz",
    ),
)
