"""The model quantizes weights only, and the runtime quantizes the activations as well.

**Why it matters**: it is faster, and results differ by 0.3 to 1 % of the output's maximum from what the model says: the usual cause of
"other numbers after optimization". ONNX Runtime makes MatMulNBits of DequantizeLinear and MatMul, at accuracy level 4.

**Bad**: ``MatMul(float, DequantizeLinear(int4 weight))`` where exact results matter, with default options

**Good**: the same with ``session.qdq_matmulnbits_accuracy_level = 0``

**Fix**: the session option that the hint names; for OpenVINO ``DYNAMIC_QUANTIZATION_GROUP_SIZE = 0``.

**Runtimes**: ONNX Runtime and OpenVINO as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.layers import Layer, axes
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.plan.lift import Lifted
from qdqtool.quantization import Blocked, PerAxis, PerTensor
from qdqtool.targets.cautions import Caution

CODE = "QDQ429"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        fused = list(subject.nodes(*sorted(caution.ops), domain=caution.domain))
        places = fused if caution.ops else [layer.place for layer in subject.layers if _fused(subject, caution, layer)]
        if places:
            yield said(subject, caution, places[0], _counted(subject, places, caution))


def _counted(subject: Subject, places: list[Place], caution: Caution) -> str:
    what = subject.node(places[0]).op_type if caution.ops else "MatMul of float activations and quantized weights"
    return f"{what}, one of {len(places)}" if len(places) > 1 else what


def _fused(subject: Subject, caution: Caution, layer: Layer) -> bool:
    weight = layer.weight
    if layer.op != "MatMul" or weight.slot != 1 or weight.step is None:
        return False
    lifted = subject.steps[weight.step]
    if lifted.storage not in caution.storage or not is_const(lifted.step.x) or not _float_data(subject, layer):
        return False
    through = [subject.node(place).op_type for place in weight.between]
    return through in ([], ["Transpose"]) and _fits(subject, layer, lifted, int(caution.numbers["block"][0]), bool(through))


def _float_data(subject: Subject, layer: Layer) -> bool:
    """The other operand is no dequantized 8-bit value, for which there are integer kernels."""
    if layer.data.step is None or not layer.data.direct:
        return True
    storage = subject.steps[layer.data.step].storage
    return storage is None or storage.bits > 8


def _fits(subject: Subject, layer: Layer, lifted: Lifted, least: int, transposed: bool) -> bool:
    shape = lifted.step.x.shape
    if shape is None or len(shape) != 2:
        return False
    output, contracted = axes(subject, layer, 2)
    output, contracted = (contracted, output) if transposed else (output, contracted)
    match lifted.step.meaning.granularity:
        case PerTensor():
            return True
        case PerAxis(axis):
            return axis == output
        case Blocked(axis, block):
            return axis == contracted and block >= least and not block & (block - 1) and not transposed
    return False
