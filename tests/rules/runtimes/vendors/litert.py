"""What the profile of LiteRT finds."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import attribute, changed, codes, constant, inserted, operands, scales, zeros
from tests.rules.runtimes.vendors.models import JOINED, Given, layer, pair, unary, weight

GIVEN = (
    Given(
        "int16-in-litert",
        "litert",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=np.int16(0))),
        "QDQ404",
        "litert: ai.onnx QuantizeLinear-21 with codes of int16; it takes int8",
    ),
    Given(
        "blocks-in-litert",
        "litert",
        weight(t.INT8, 21),
        changed(weight(t.INT8, 21), constant(s=scales(2, 8), z=zeros(t.INT8, 2, 8)), attribute("v", axis=0, block_size=2)),
        "QDQ406",
        "litert: scale 's' [2, 8]: blocks of 2 along axis 0, and it has no blocks",
    ),
    Given(
        "activation-per-axis-in-litert",
        "litert",
        pair(t.INT8),
        changed(pair(t.INT8), constant(s=scales(8), z=zeros(t.INT8, 8)), attribute("q", axis=1), attribute("y", axis=1)),
        "QDQ417",
        "litert: activation 'x' with scale 's' [8], per axis 1; per axis is for weights there",
    ),
    Given(
        "zero-point-of-weight-in-litert",
        "litert",
        weight(t.INT8),
        changed(weight(t.INT8), constant(z=np.full(8, 3, np.int8))),
        "QDQ409",
        "litert: zero point 'z' [8] of int8 has 8 of 8 values that are not 0; weights are symmetric there",
    ),
    Given(
        "range-in-litert",
        "litert",
        layer(),
        changed(layer(), constant(w=np.full((8, 4, 1, 1), -128, np.int8))),
        "QDQ436",
        "litert: weight 'w' [8, 4, 1, 1] has codes of -128; weights are in -127 to 127 there",
    ),
    Given(
        "input-channels-in-litert",
        "litert",
        layer(),
        changed(layer(), attribute("v", axis=1), constant(sw=scales(4), zw=zeros(t.INT8, 4))),
        "QDQ418",
        "litert: scales of weight 'w' [8, 4, 1, 1] along axis 1, which is summed over; it takes the output channels only, axis 0",
    ),
    Given(
        "bias-scale-in-litert",
        "litert",
        layer(b=scales(8)),
        changed(
            layer(b=scales(8)),
            operands("p", "d", "v", "e"),
            inserted(3, "DequantizeLinear", ["c", "sx"], ["e"]),
            constant(c=codes(t.INT32, 8)),
        ),
        "QDQ421",
        "litert: bias 'c' with scale 0.03125, not 0.000976562; it takes int32 with the product of the other scales and zero point 0",
    ),
    Given(
        "sigmoid-in-litert",
        "litert",
        unary("Sigmoid", t.INT8, 1 / 256, -128),
        changed(unary("Sigmoid", t.INT8, 1 / 256, -128), constant(s=0.01)),
        "QDQ422",
        "litert: result 'p' of Sigmoid with scale 0.01 and zero point -128, not 0.00390625 and -128; it computes with these",
    ),
    Given(
        "softmax-in-litert",
        "litert",
        unary("Softmax", t.INT8, 1 / 256, -128),
        changed(unary("Softmax", t.INT8, 1 / 256, -128), constant(z=np.int8(0))),
        "QDQ422",
        "litert: result 'p' of Softmax with scale 0.00390625 and zero point 0, not 0.00390625 and -128; it computes with these",
    ),
    Given(
        "tanh-in-litert",
        "litert",
        unary("Tanh", t.INT8, 1 / 128, 0),
        changed(unary("Tanh", t.INT8, 1 / 128, 0), constant(s=0.01)),
        "QDQ422",
        "litert: result 'p' of Tanh with scale 0.01 and zero point 0, not 0.0078125 and 0; it computes with these",
    ),
    Given(
        "normalization-in-litert",
        "litert",
        unary("LpNormalization", t.INT8, 1 / 128, 0),
        changed(unary("LpNormalization", t.INT8, 1 / 128, 0), constant(s=0.01)),
        "QDQ422",
        "litert: result 'p' of LpNormalization with scale 0.01 and zero point 0, not 0.0078125 and 0; it computes with these",
    ),
    Given(
        "log-softmax-in-litert",
        "litert",
        unary("LogSoftmax", t.INT8, 16 / 256, 127),
        changed(unary("LogSoftmax", t.INT8, 16 / 256, 127), constant(s=0.01)),
        "QDQ422",
        "litert: result 'p' of LogSoftmax with scale 0.01 and zero point 127, not 0.0625 and 127; it computes with these",
    ),
    Given(
        "joined-in-litert",
        "litert",
        JOINED,
        changed(JOINED, operands("h", "u", "s2", "z"), operands("e", "h", "s2", "z")),
        "QDQ423",
        "litert: Concat with scale 0.5 and zero point 0 and scale 0.25 and zero point 0; they share scale and zero point there",
    ),
)
