"""What the profile of DirectML finds."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import changed, codes, constant, operands, port, zeros
from tests.rules.runtimes.vendors.models import RANKED, Given, pair, weight

GIVEN = (
    Given(
        "int16-in-directml",
        "directml",
        pair(t.INT8, 21),
        changed(pair(t.INT8, 21), constant(z=np.int16(0))),
        "QDQ404",
        "directml@6.3: ai.onnx QuantizeLinear-21 with codes of int16; it takes uint8, int8, uint4, int4",
    ),
    Given(
        "int4-in-directml-6.2",
        "directml@6.2",
        weight(t.INT8, 21),
        changed(weight(t.INT8, 21), constant(w=codes(t.INT4, 4, 8), z=zeros(t.INT4, 8))),
        "QDQ404",
        "directml@6.2: ai.onnx DequantizeLinear-21 with codes of int4; it takes uint8, int8, uint16, int16, int32",
    ),
    Given(
        "zero-scale-in-directml",
        "directml",
        pair(t.INT8),
        changed(pair(t.INT8), constant(s=0.0)),
        "QDQ415",
        "directml@6.3: scale 's' [] is 0; its result is undefined for a scale of 0",
    ),
    Given(
        "rank-in-directml",
        "directml",
        RANKED,
        changed(RANKED, port("x", t.FLOAT, [1] * 9)),
        "QDQ438",
        "directml@6.3: 'x' [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 dimensions; it takes up to 8 dimensions",
    ),
    Given(
        "no-zero-point-in-directml-5",
        "directml@5.0",
        pair(t.UINT8),
        changed(pair(t.UINT8), operands("q", "x", "s")),
        "QDQ410",
        "directml@5.0: no zero point (uint8 codes, per tensor); it wants one below feature level 6.2",
    ),
)
