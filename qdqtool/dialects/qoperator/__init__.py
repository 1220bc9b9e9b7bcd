"""Integer operators: QLinearConv, QLinearMatMul, and those of ONNX Runtime (QGemm, QLinearAdd ...), each with its scales as operands.

They mean: dequantize the operands, compute, quantize the result. Source: schemas and CPU kernels of ONNX Runtime 1.32, all executed.
Products are exact sums of integers, scaled once and rounded before the zero point is added; QLinearAdd, QLinearMul and
QLinearAveragePool round after it is added. So results near a tie can differ by one step from those of dequantized operands.
"""

from __future__ import annotations

from qdqtool.dialects.qoperator.forms import DOMAIN, FORMS, LIKE, OPERATORS
from qdqtool.dialects.qoperator.fusing import fuse
from qdqtool.dialects.qoperator.narrowing import narrowed
from qdqtool.dialects.qoperator.results import meaning, result
from qdqtool.dialects.qoperator.splitting import split

__all__ = ["DOMAIN", "INNER", "LAST", "LIKE", "NAME", "OPERATORS", "fuse", "meaning", "narrowed", "result", "split"]

NAME = "qoperator"
LAST = ("QuantizeLinear", "Gemm")
INNER = (*dict.fromkeys(form.plain for form in FORMS.values()), "Relu", "Transpose")
