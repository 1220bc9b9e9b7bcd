"""What the profile of AMD's NPU finds."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import attribute, changed, codes, constant, inserted, operands, operator, opset, zeros
from tests.rules.runtimes.vendors.models import GATED, JOINED, ONE_LAYER, ONE_SCALE, PLUS, Given, both, pair, unary

GIVEN = (
    Given(
        "scale-in-vitis",
        "vitis@xint8",
        pair(t.INT8),
        changed(pair(t.INT8), constant(s=0.02)),
        "QDQ424",
        "vitis@xint8: scale 's' [] is 0.02, no power of two; it shifts instead of multiplying",
    ),
    Given(
        "zero-point-in-vitis",
        "vitis@xint8",
        pair(t.UINT8),
        changed(pair(t.UINT8), constant(z=np.uint8(3))),
        "QDQ409",
        "vitis@xint8: zero point 'z' [] of uint8 is 3; it is symmetric only",
    ),
    Given(
        "channels-in-vitis",
        "vitis@xint8",
        ONE_SCALE,
        changed(ONE_SCALE, constant(s=2.0 ** -np.arange(8, dtype=np.float32), z=zeros(t.INT8, 8)), attribute("v", axis=1)),
        "QDQ406",
        "vitis@xint8: scale 's' [8]: per axis 1, and it takes one scale for each tensor",
    ),
    Given(
        "int16-in-vitis",
        "vitis@xint8",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=np.int16(0))),
        "QDQ404",
        "vitis@xint8: ai.onnx QuantizeLinear-21 with codes of int16; it takes uint8, int8",
    ),
    Given(
        "sum-in-vitis",
        "vitis@xint8",
        ONE_LAYER,
        changed(ONE_LAYER, constant(sy=2.0**10)),
        "QDQ425",
        "vitis@xint8: Conv with cut shift of 20, not 0 to 16; it shifts the sum by 0 to 16 bits",
    ),
    Given(
        "bias-in-vitis",
        "vitis@xint8",
        ONE_LAYER,
        changed(
            ONE_LAYER,
            operands("p", "d", "v", "e"),
            inserted(3, "DequantizeLinear", ["c", "sc"], ["e"]),
            constant(c=codes(t.INT8, 8), sc=2.0**12),
        ),
        "QDQ425",
        "vitis@xint8: Conv with bias shift of 22, not -11 to 15; it shifts the bias into the sum",
    ),
    Given(
        "operands-in-vitis",
        "vitis@xint8",
        both("Add", 5, 5, 5),
        changed(both("Add", 5, 5, 5), constant(sa=2.0**-14)),
        "QDQ425",
        "vitis@xint8: Add with read shift of 9, not 0 to 7; it aligns operands by 0 to 7 bits",
    ),
    Given(
        "result-in-vitis",
        "vitis@xint8",
        both("Add", 5, 5, 5),
        changed(both("Add", 5, 5, 5), constant(so=2.0**-14)),
        "QDQ425",
        "vitis@xint8: Add with write shift of -9, not -7 to 25; it shifts the result by -7 to 25 bits",
    ),
    Given(
        "product-in-vitis",
        "vitis@xint8",
        both("Mul", 5, 5, 5),
        changed(both("Mul", 5, 5, 5), constant(so=2.0**-14)),
        "QDQ425",
        "vitis@xint8: Mul with cut shift of -4, not 0 to 32; it shifts the result by 0 to 32 bits",
    ),
    Given(
        "joined-in-vitis",
        "vitis@xint8",
        JOINED,
        changed(JOINED, operands("h", "u", "s2", "z"), operands("e", "h", "s2", "z")),
        "QDQ423",
        "vitis@xint8: Concat with scale 0.5 and scale 0.25; they share one scale there",
    ),
    Given(
        "hard-sigmoid-in-vitis",
        "vitis@xint8",
        unary("HardSigmoid", t.INT8, 2.0**-8, 0),
        changed(unary("HardSigmoid", t.INT8, 2.0**-8, 0), constant(s=2.0**-2)),
        "QDQ425",
        "vitis@xint8: HardSigmoid with result of 2, not 7 to 255; it computes in fixed point",
    ),
    Given(
        "swish-in-vitis",
        "vitis@xint8",
        GATED,
        changed(GATED, constant(so=2.0**6)),
        "QDQ425",
        "vitis@xint8: Mul with gate shift of 18, not 0 to 15; of a Swish it shifts the product by 0 to 15 bits",
    ),
    Given(
        "zero-point-in-a8w8",
        "vitis@a8w8",
        pair(t.INT8),
        changed(pair(t.INT8), constant(z=np.int8(3))),
        "QDQ409",
        "vitis@a8w8: zero point 'z' [] of int8 is 3; its codes are symmetric",
    ),
    Given(
        "joined-in-a8w8",
        "vitis@a8w8",
        JOINED,
        changed(JOINED, operands("h", "u", "s2", "z"), operands("e", "h", "s2", "z")),
        "QDQ423",
        "vitis@a8w8: Concat with scale 0.5 and scale 0.25; they share one scale there",
    ),
    Given(
        "uint8-in-a8w8",
        "vitis@a8w8",
        pair(t.INT8),
        changed(pair(t.INT8), constant(z=np.uint8(0))),
        "QDQ404",
        "vitis@a8w8: ai.onnx QuantizeLinear-19 with codes of uint8; it takes int8",
    ),
    Given(
        "extended-in-vitis",
        "vitis@xint8",
        PLUS,
        changed(PLUS, operator("y", "ExtendedQuantizeLinear", "com.amd.quark"), opset(1, "com.amd.quark")),
        "QDQ439",
        "vitis@xint8: com.amd.quark ExtendedQuantizeLinear; no other runtime loads such nodes",
    ),
)
