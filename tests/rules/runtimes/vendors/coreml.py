"""What the profile of Core ML finds."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import attribute, changed, constant, operands, scales, zeros
from tests.rules.runtimes.vendors.models import DYNAMIC, HALF, ZERO, Given, blocks, pair, weight

GIVEN = (
    Given(
        "int16-in-coreml",
        "coreml",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=np.int16(0))),
        "QDQ404",
        "coreml@18: ai.onnx QuantizeLinear-21 with codes of int16; it takes uint8, int8",
    ),
    Given(
        "int4-activation-in-coreml",
        "coreml",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=zeros(t.INT4))),
        "QDQ404",
        "coreml@18: codes of int4; 4-bit codes are for weights there",
    ),
    Given(
        "computed-scale-in-coreml",
        "coreml",
        DYNAMIC,
        changed(DYNAMIC, operands("q", "x", "s", "z")),
        "QDQ414",
        "coreml@18: scale 's' not constant; it wants constant scales and zero points",
    ),
    Given(
        "zero-scale-in-coreml",
        "coreml",
        pair(t.INT8),
        changed(pair(t.INT8), constant(s=0.0)),
        "QDQ415",
        "coreml@18: scale 's' [] is 0 throughout; it rejects scales that are all 0",
    ),
    Given(
        "blocked-activation-in-coreml",
        "coreml",
        pair(t.INT8, 21),
        changed(
            pair(t.INT8, 21),
            constant(s=scales(4, 2), z=zeros(t.INT8, 4, 2)),
            attribute("y", axis=1, block_size=4),
            operands("q", "x", "sq", "zq"),
            constant(sq=HALF, zq=ZERO),
        ),
        "QDQ417",
        "coreml@18: activation 'q' with scale 's' [4, 2], blocks of 4 along axis 1; blocks are for weights there",
    ),
    Given(
        "blocks-in-ios-17",
        "coreml@17",
        weight(t.INT8, 21),
        changed(weight(t.INT8, 21), constant(s=scales(2, 8), z=zeros(t.INT8, 2, 8)), attribute("v", axis=0, block_size=2)),
        "QDQ406",
        "coreml@17: scale 's' [2, 8]: blocks of 2 along axis 0, and it has no blocks; blocks need iOS 18",
    ),
    Given(
        "short-block-in-coreml",
        "coreml",
        blocks(t.INT4, 16),
        changed(blocks(t.INT4, 16), attribute("v", block_size=48), constant(s=scales(2, 32))),
        "QDQ413",
        "coreml@18: blocks of 48 along axis 0 of 'w' [64, 32]; it takes whole blocks only",
    ),
    Given(
        "shapes-in-coreml",
        "coreml",
        pair(t.INT8),
        changed(pair(t.INT8), constant(z=np.zeros(1, np.int8))),
        "QDQ411",
        "coreml@18: scale 's' [] and zero point 'z' [1]; it wants them shaped like the scales",
    ),
)
